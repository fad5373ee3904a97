"""The four ways to name a model, and what is said when a name leads nowhere."""

from __future__ import annotations

import json

import pytest
import torch
from huggingface_hub import errors as hub
from safetensors.torch import load_file, save_file
from transformers import PreTrainedTokenizerFast

from engine.basics.errors import ModelLoadError
from engine.model import sources
from engine.model.model import load_model
from tests.engine.model.test_gguf_convert import write_gguf
from tests.tiny import CHAT_TEMPLATE, tiny_backend, tiny_network


@pytest.fixture(scope="module")
def network():
    return tiny_network("llama")


@pytest.fixture
def folder(tmp_path, network):
    """Return a folder as `save_pretrained` writes it."""
    target = tmp_path / "my-model"
    network.save_pretrained(target)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tiny_backend(), eos_token="<|im_end|>")
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(target)
    return target


@torch.inference_mode()
def logits(network, ids):
    return network(input_ids=torch.tensor([ids])).logits[0]


def check_same_model(model, network):
    text = "The cat sat on 100 mats.\n\n1. é"
    ids = [token.id for token in model.tokenizer.encode(text)]
    assert ids == tiny_backend().encode(text).ids
    assert model.tokenizer.chat([{"role": "user", "content": "Hi"}])[0] == 1
    assert (logits(model.network, ids) - logits(network, ids)).abs().max() <= 1e-4
    assert model.network.dtype == torch.float32


def test_a_folder(folder, network):
    stages = []
    model = load_model(str(folder), device="cpu", progress=lambda p: stages.append(p.stage))
    assert (model.name, model.source) == ("my-model", str(folder))
    assert stages == ["load", "load"]
    check_same_model(model, network)


def test_a_gguf_file(tmp_path, network, capfd):
    """Through transformers' loader, with the digits split that it leaves out."""
    write_gguf(tmp_path / "tiny-llama.gguf", network)
    steps = []
    model = load_model(str(tmp_path / "tiny-llama.gguf"), device="cpu", progress=steps.append)
    tensors = len(list(network.parameters()))
    assert [(step.done, step.total) for step in steps if step.stage == "convert"] == [
        (done, tensors) for done in range(tensors)
    ]
    assert capfd.readouterr() == ("", "")
    assert model.name == "tiny-llama"
    assert model.architecture.tied
    check_same_model(model, network)


def test_a_hub_id_is_asked_for_its_config_first(folder, network, monkeypatch):
    asked = []
    monkeypatch.setattr(sources, "hf_hub_download", lambda *a: asked.append(a))
    for name in ("AutoTokenizer", "AutoModelForCausalLM"):
        loader = getattr(sources, name)
        monkeypatch.setattr(
            sources,
            name,
            type(
                name,
                (),
                {
                    "from_pretrained": staticmethod(
                        lambda _, loader=loader, **more: loader.from_pretrained(folder, **more)
                    )
                },
            ),
        )
    model = load_model("somebody/my-model", device="cpu")
    assert asked == [("somebody/my-model", "config.json")]
    assert model.name == "somebody/my-model"
    check_same_model(model, network)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "“” does not name a model"),
        ("two words", "“two words” does not name a model"),
        ("a/b/c", "“a/b/c” does not name a model"),
        ("/no/such/folder", "“/no/such/folder” is no folder with a model in it"),
        ("./here", "“./here” is no folder with a model in it"),
        ("/no/such.gguf", "There is no file “/no/such.gguf”"),
    ],
)
def test_names_that_lead_nowhere(source, message):
    with pytest.raises(ModelLoadError) as caught:
        load_model(source)
    assert message in str(caught.value)
    assert "Give “SmolLM2-135M-Instruct”, a hub id such as" in str(caught.value)


def test_no_network():
    """The tests' hub client is offline, as it would be in a class without internet."""
    with pytest.raises(ModelLoadError) as caught:
        load_model("nobody/nothing")
    assert "“nobody/nothing” is not on this machine and the hub cannot be reached" in str(
        caught.value
    )
    assert "“SmolLM2-135M-Instruct”, a folder or a .gguf file load without" in str(caught.value)


def of_the_hub(kind, text):
    """Return an error of the hub's client without the HTTP response that it is made from."""
    error = kind.__new__(kind, text)
    error.args = (text,)
    return error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (of_the_hub(hub.RepositoryNotFoundError, "404"), "has no public model “a/b”"),
        (of_the_hub(hub.GatedRepoError, "403"), "log in here with “hf auth login”"),
        (hub.HFValidationError("bad id"), "has no public model “a/b”"),
        (of_the_hub(hub.RemoteEntryNotFoundError, "404"), "“a/b” has no config.json"),
        (hub.LocalEntryNotFoundError("offline"), "the hub cannot be reached"),
        (of_the_hub(hub.HfHubHTTPError, "500 Server Error"), "(500 Server Error"),
        (ConnectionError("reset by peer"), "(reset by peer)"),
    ],
)
def test_errors_of_the_hub_say_the_way_out(monkeypatch, error, message):
    def fail(*_):
        raise error

    monkeypatch.setattr(sources, "hf_hub_download", fail)
    with pytest.raises(ModelLoadError) as caught:
        load_model("a/b")
    assert message in str(caught.value)
    assert "“a/b”" in str(caught.value)


def harm_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def drop_a_weight(folder):
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def cut_short(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:5000])


def own_code(folder):
    harm_config(
        folder,
        model_type="homemade",
        auto_map={"AutoConfig": "code.C", "AutoModelForCausalLM": "code.M"},
    )
    (folder / "code.py").write_text("raise SystemExit('ran')")


def pickled(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda f: (f / "config.json").unlink(), "holds no model: no config.json"),
        (pickled, "holds no .safetensors file. Other forms of weights can carry code"),
        (drop_a_weight, "1 of its weights have no values, the first of them model.layers.1.mlp"),
        (cut_short, "could not be loaded: "),
        (own_code, "it needs code from its repository, which is never run here"),
        (lambda f: harm_config(f, model_type="homemade"), "could not be loaded: "),
        (lambda f: (f / "tokenizer.json").write_text("{"), "could not be loaded: "),
    ],
)
def test_folders_that_cannot_be_loaded(folder, harm, message):
    harm(folder)
    with pytest.raises(ModelLoadError) as caught:
        load_model(str(folder))
    assert message in str(caught.value)
    assert str(folder) in str(caught.value)


def test_a_model_without_layers_is_refused(folder):
    harm_config(folder, num_hidden_layers=0)
    with pytest.raises(ModelLoadError, match="This model has no layers"):
        load_model(str(folder))


def test_a_panic_while_loading_is_a_sentence(folder, monkeypatch):
    class Panic(BaseException):
        """As the tokenizers library raises it: no Exception."""

    def panic(*_, **__):
        raise Panic("called `Result::unwrap()` on an `Err` value")

    monkeypatch.setattr(sources.AutoTokenizer, "from_pretrained", panic)
    with pytest.raises(ModelLoadError, match="could not be loaded: its files are damaged"):
        load_model(str(folder))


def test_a_folder_of_gguf_files_says_so(tmp_path):
    (tmp_path / "a.gguf").write_bytes(b"")
    with pytest.raises(ModelLoadError, match=r"Give the \.gguf file in it by its full name"):
        load_model(str(tmp_path))


def test_a_gguf_file_that_is_none(tmp_path):
    (tmp_path / "a.gguf").write_bytes(b"GGUF nonsense")
    with pytest.raises(ModelLoadError, match=r"a\.gguf” could not be loaded"):
        load_model(str(tmp_path / "a.gguf"))
