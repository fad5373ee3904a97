"""The attention page in a browser: clicks lead from all heads to one sum, and parts come away."""

from __future__ import annotations

from tests.browser.harness.actions import (
    choose,
    open_tab,
    press_button,
    wait_until_idle,
    widget,
)

PROMPT = "The cat sat on the mat. The cat sat on the"


def click_at(page, key, x, y):
    """Click into a figure, at shares of the width and height of its plot area."""
    area = widget(page, key).locator(".nsewdrag").first
    box = area.bounding_box()
    area.click(position={"x": box["width"] * x, "y": box["height"] * y})
    wait_until_idle(page)


def test_clicks_lead_from_all_heads_to_one_sum_and_the_row_back_up(page_at):
    page = page_at("/attention", params={"prompt": PROMPT, "zoom": "All heads"})
    # Tile of layer 17, head 4: the plot is 30 tiles wide and 9 high.
    click_at(page, "mosaic", 17.5 / 30, 4.55 / 9)
    page.wait_for_url("**layer=17**")
    page.wait_for_url("**head=4**")
    choose(page, "picture", "Matrix")
    page.get_by_text("Head 4 of layer 17 reads what followed the same token before").wait_for()
    # Token 8, the second " cat", reads token 2, what came after the first one.
    click_at(page, "pattern", 2.5 / 12, 8.5 / 12)
    page.get_by_text("“·cat” (token 9) reads “·sat” (token 3) with").wait_for()
    assert "q·k = " in page.get_by_test_id("stMain").inner_text()
    for part in ("token=8", "read=2", "zoom=One"):
        page.wait_for_url(f"**{part}**")
    choose(page, "zoom", "All heads")
    assert widget(page, "mosaic").is_visible()


def test_arcs_are_chosen_by_mouse_and_keyboard(page_at):
    page = page_at(
        "/attention",
        params={"prompt": PROMPT, "picture": "Arcs", "layer": "17", "head": "4", "token": "8"},
        dark=True,
    )
    arcs = widget(page, "arcs")
    assert arcs.get_by_role("button", name="token 3, ·sat, is read with").is_visible()
    assert arcs.locator("path.reads").count() >= 2
    arcs.get_by_role("button", name="token 10, ").click()
    page.wait_for_url("**token=9**")
    wait_until_idle(page)
    arcs.get_by_role("button", name="token 10, ").press("ArrowLeft")
    page.wait_for_url("**token=8**")


def test_a_link_takes_parts_away_and_one_click_restores(page_at):
    params = {"prompt": PROMPT, "zoom": "Take a part away", "edits": "m11 h17.4"}
    page = page_at("/attention", params=params)
    main = page.get_by_test_id("stMain")
    assert "head 4 of layer 17 adds nothing" in main.inner_text()
    page.get_by_role("heading", name="With 2 changes, “·mat” falls from").wait_for()
    widget(page, "answers").get_by_text("▼ 1 → ").wait_for()
    press_button(page, "restore")
    page.get_by_role("heading", name="For example without head").wait_for()
    assert "edits=m11" not in page.url
    open_tab(page, "Try this")
    main.get_by_text("Nothing is taken away.").wait_for()


def test_a_long_sentence_is_in_view_as_a_whole_on_every_screen(page_at):
    text = "The animal did not cross the street because it was too tired, and it lay down"
    for viewport in ((1440, 900), (390, 844)):
        page = page_at("/attention", params={"prompt": text, "layer": "9"}, viewport=viewport)
        arcs = widget(page, "arcs")
        boxes = [button.bounding_box() for button in arcs.get_by_role("button").all()]
        assert len(boxes) == 17
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= viewport[0] for box in boxes)
        assert (len({round(box["y"]) for box in boxes}) == 1) == (viewport[0] == 1440)
        page.close()
