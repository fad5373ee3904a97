"""The feed-forward page in a browser: the block's boxes, the lens and a neuron, by click."""

from __future__ import annotations

from tests.browser.harness.actions import choose, wait_until_idle, widget
from tests.browser.test_attention import click_at

PROMPT = "The capital of France is"


def test_every_box_of_the_block_opens_and_the_jump_is_seen(page_at):
    params = {"prompt": PROMPT, "layer": "11", "token": "0", "block": "One block"}
    page = page_at("/feed-forward", params=params)
    main = page.get_by_test_id("stMain")
    assert "to 22,712" in main.inner_text()
    picture = widget(page, "block_picture")
    picture.get_by_text("adds 22,661").wait_for()
    for name, chart in (
        ("RMSNorm", "norm_steps"),
        ("Attention", "head_lengths"),
        ("out", "vector"),
    ):
        picture.get_by_role("button", name=name).first.click()
        wait_until_idle(page)
        assert widget(page, chart).is_visible(), name


def test_the_lens_names_paris_and_a_click_chooses_layer_and_token(page_at):
    page = page_at("/feed-forward", params={"prompt": PROMPT}, viewport=(1440, 1200))
    page.get_by_role("heading", name="“·Paris” climbs from rank 4,316 to 1").wait_for()
    last = widget(page, "readings").get_by_role("button").last
    assert "“·Paris” leads with 77 %" in last.get_attribute("aria-label")
    assert "the model's own score is" in page.get_by_test_id("stMain").inner_text()
    click_at(page, "lens", 2.5 / 5, 20.5 / 31)
    page.wait_for_url("**layer=20**")
    page.wait_for_url("**token=2**")


def test_a_neuron_is_chosen_by_its_bar(page_at):
    page = page_at(
        "/feed-forward", params={"prompt": PROMPT, "block": "Neurons", "layer": "15"}, dark=True
    )
    assert "do half of the work" in widget(page, "neurons").locator(".gtitle").text_content()
    spelled = page.get_by_text("silu(").first
    before = spelled.inner_text()
    click_at(page, "neurons", 0.55, 2.5 / 16)
    assert spelled.inner_text() != before
    choose(page, "block", "Residual stream")
    assert widget(page, "norms").is_visible()
