"""The QR code: its path is the library's own matrix, run by run."""

import re

import segno

from components.classroom.join_card import payload
from components.classroom.qr import BORDER, qr

LINK = "http://192.168.100.200:8501/?room=K7PM2"


def test_the_path_draws_exactly_the_dark_modules():
    matrix = segno.make(LINK, error="m", micro=False).matrix
    code = qr(LINK)
    assert code.size == len(matrix) + 2 * BORDER
    dark = set()
    for x, y, length in re.findall(r"M(\d+) (\d+)\.5h(\d+)", code.path):
        dark |= {(int(x) + i - BORDER, int(y) - BORDER) for i in range(int(length))}
    assert dark == {(x, y) for y, row in enumerate(matrix) for x, bit in enumerate(row) if bit}


def test_the_card_holds_what_the_back_row_needs():
    card = payload(LINK, "K7PM2", 1)
    assert (card["code"], card["here"]) == ("K7PM2", "1 is here")
    assert card["link"] == "192.168.100.200:8501/?room=K7PM2"
    assert payload("https://x.example/?room=A", "A", 23)["link"] == "https://x.example/?room=A"
    assert payload(LINK, "A", 23)["here"] == "23 are here"
