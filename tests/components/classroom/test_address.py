"""The link to join with, and addresses of pages, from wherever the browser is."""

import pytest

from components.classroom.address import home, join_link, own_computer_only, page_path


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://10.0.0.5:8501", "http://10.0.0.5:8501"),
        ("http://10.0.0.5:8501/", "http://10.0.0.5:8501"),
        ("http://10.0.0.5:8501/sampling?prompt=a/b#x", "http://10.0.0.5:8501"),
        ("https://school.example/tokens/lm-head", "https://school.example/tokens"),
        ("https://school.example/tokens/", "https://school.example/tokens"),
    ],
)
def test_home_is_the_first_page_whichever_page_is_open(url, expected):
    assert home(url) == expected
    assert join_link(url, "K7PM2") == f"{expected}/?room=K7PM2"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1.2.3", "localhost", "a.localhost", "[::1]", "0.0.0.0"]
)
def test_an_address_that_leads_others_to_themselves_is_known(host):
    assert own_computer_only(f"http://{host}:8501/sampling")


@pytest.mark.parametrize("host", ["192.168.1.20", "school.example", "[fe80::1]", "lab-pc"])
def test_an_address_in_the_network_is_one_for_the_class(host):
    assert not own_computer_only(f"http://{host}:8501/")


def test_a_pages_path_carries_any_text():
    link = [("prompt", "a&b=c #ü\n"), ("room", "K7PM2")]
    path = page_path("https://x.example/base/sampling", "lm_head", link)
    assert path == "/base/lm-head?prompt=a%26b%3Dc%20%23%C3%BC%0A&room=K7PM2"
    assert page_path("http://x.example/", "overview", []) == "/?"
