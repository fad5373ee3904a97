"""The start of the server: its port, and that it asks nobody outside for anything."""

from __future__ import annotations

import socket

import pytest
from streamlit import config, net_util
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web import bootstrap, cli
from streamlit.web.server.server_util import is_url_from_allowed_origins

from scripts import run


def test_the_port_after_a_busy_one_is_taken():
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        assert not run.is_free("127.0.0.1", port)
        assert run.free_port("127.0.0.1", port) > port


def test_no_free_port_is_said(monkeypatch):
    monkeypatch.setattr(run, "is_free", lambda host, port: False)
    with pytest.raises(SystemExit, match="No free port from 8501 to 8550"):
        run.free_port("127.0.0.1")


def test_a_server_for_a_class_asks_nobody_for_its_address(monkeypatch, capsys):
    """Streamlit would ask a service of Amazon, for its banner and for an unknown origin."""
    asked = []

    def ask(url, timeout=None):
        asked.append(url)
        return "198.51.100.7"

    monkeypatch.setattr(net_util, "_make_blocking_http_get", ask)
    monkeypatch.setattr(net_util, "_external_ip", None)
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    options = {"server.address": "0.0.0.0", "server.headless": True}
    kept = {name: config.get_option(name) for name in options}

    def banner(command, prog_name):
        for name, value in options.items():
            config.set_option(name, value)
        bootstrap._print_url(False)
        assert not is_url_from_allowed_origins("http://elsewhere.example")

    monkeypatch.setattr(cli, "main", banner)
    try:
        run.serve([], warm=False)
    finally:
        for name, value in kept.items():
            config.set_option(name, value)
    assert asked == []
    assert "Network URL" in capsys.readouterr().out
