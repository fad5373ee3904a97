"""Drives the real app in a real Chromium: server, browser, watch over what goes wrong, actions."""
