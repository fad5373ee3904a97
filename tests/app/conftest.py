"""The app tier: the real `app.py` under Streamlit's AppTest, on a tiny random model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.shell.stages import stage
from tests.sources import ROOT
from tests.tiny import CHAT_TEMPLATE, SPECIAL_TOKENS, tiny_backend, tiny_network

OpenApp = Callable[..., AppTest]


def kept(at: AppTest, name: str) -> Any:
    """Return the result of a kind that `pages.frame.kept` keeps in the session; None without."""
    if name not in at.session_state:
        return None
    return next(reversed(at.session_state[name].values()), None)


def save_tiny(folder: Path, network: Any) -> Path:
    """Write a tiny network and the tiny tokenizer into a folder that the app can load."""
    from transformers import PreTrainedTokenizerFast

    network.save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tiny_backend(),
        bos_token=SPECIAL_TOKENS[0],
        eos_token=SPECIAL_TOKENS[2],
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny random Llama and its tokenizer, as `save_pretrained` writes it.

    It is what an operator names in `TOKEN_BY_TOKEN_MODELS`, so the app loads it like any other.
    """
    return save_tiny(tmp_path_factory.mktemp("models") / "tiny-llama", tiny_network("llama"))


@pytest.fixture
def open_app(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> OpenApp:
    """Return `open_app(key="overview", **link)`: the app at a stage's page, run to its end.

    Args of the returned function:
        key: the stage, as registered in `components/shell/stages.py`.
        models: what the operator allows (default: the tiny model alone).
        link: parameters of the link, such as `prompt="Hi"` or `temperature="0.5"`.

    Every exception on the page fails the test.
    """

    def open_at(key: str = "overview", *, models: str | None = None, **link: str) -> AppTest:
        monkeypatch.setenv("TOKEN_BY_TOKEN_MODELS", models or str(tiny_folder))
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        for name, value in link.items():
            at.query_params[name] = value
        at.run()
        if key != "overview":
            at.switch_page(stage(key).page).run()
        assert not at.exception, [element.value for element in at.exception]
        return at

    return open_at
