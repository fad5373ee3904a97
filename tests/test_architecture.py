"""The rules of the house, checked on the source: who imports whom, how long, and what never.

Each test gathers every offence, so that one run shows all that is to be done.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys

from components.shell.stages import STAGES
from tests.sources import LAYERS, ROOT, assets, sources

SHIPPED = ("app", *LAYERS)
OWN = {"app", "engine", "components", "pages", "tests", "benchmarks", "scripts"}

MAY_IMPORT = {
    "app": ("components", "pages.frame", "pages.lesson"),
    "pages": ("engine", "components", "pages"),
    "components": ("components", "engine"),
    "engine": ("engine",),
}
NEVER_IMPORTS = {
    "app": ("torch", "transformers", "tokenizers", "plotly"),
    "pages": ("torch", "transformers", "tokenizers"),
    "components": ("torch", "transformers", "tokenizers"),
    "engine": ("streamlit", "plotly"),
}
KEYS = tuple(stage.key for stage in STAGES)
RANKS = {
    "engine": (
        ("basics",),
        ("network",),
        ("observe",),
        ("tokenizer",),
        ("model",),
        ("tracing", "kv_cache"),
        ("sampling",),
        ("embedding", "attention", "feed_forward", "lm_head", "interpret"),
        ("generation",),
        ("speculative", "guardrails", "training", "classroom"),
        ("overview", "lesson"),
        ("library",),
    ),
    "components": (
        ("kit",),
        ("link",),
        ("shell",),
        (*KEYS, "interpret", "kv_cache", "lesson", "classroom"),
    ),
    "pages": (
        ("frame",),
        ("interpret", "lesson"),
        KEYS,
    ),
}
"""The packages of a layer, lowest first. A package imports itself and lower ranks, so stages never
import each other. What two stages draw, `interpret` and `kv_cache`, stands beside them: pages bring
it together."""

ADDRESSES_THAT_ARE_NAMES = ("http://www.w3.org/2000/svg",)
"""Addresses that identify something and are never fetched."""

READ_ONLY = r"(Final\[)?(Mapping|Sequence|Collection|Set|AbstractSet|frozenset|tuple)\b"
"""Annotations under which the type checker lets nobody write to a table."""


def report(offences: list[str]) -> None:
    assert not offences, "\n" + "\n".join(offences)


def inside(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_imports_point_one_way():
    offences = []
    for source in sources(*SHIPPED):
        for name, line in source.imports():
            own = name.split(".")[0] in OWN
            if (own and not inside(name, MAY_IMPORT[source.layer])) or inside(
                name, NEVER_IMPORTS[source.layer]
            ):
                offences.append(f"{source.name}:{line} imports {name}")
    report(offences)


def test_packages_of_a_layer_import_lower_ranks_only():
    offences = []
    for layer, ranks in RANKS.items():
        rank = {package: number for number, names in enumerate(ranks) for package in names}
        folders = {path.parent.name for path in (ROOT / layer).glob("*/__init__.py")}
        folders |= {path.stem for path in (ROOT / layer).glob("*.py")} - {"__init__"}
        offences += [f"{layer}/{name} has no rank" for name in sorted(folders ^ set(rank))]
        for source in sources(layer):
            own = source.module.split(".")[1:2]
            for name, line in source.imports():
                if not own or not name.startswith(f"{layer}."):
                    continue
                other = name.split(".")[1]
                if other != own[0] and rank[other] >= rank[own[0]]:
                    offences.append(f"{source.name}:{line} imports {name}")
    report(offences)


def test_each_page_is_opened_by_its_link_in_a_browser():
    folder = ROOT / "tests" / "browser"
    report(
        [
            f"{entry.key}: no test opens /{entry.url}"
            for entry in STAGES[1:]
            if f'"/{entry.url}"' not in (folder / f"test_{entry.key}.py").read_text("utf-8")
        ]
    )


def test_the_frame_needs_neither_torch_nor_transformers_to_be_painted():
    """Nor to begin a page's script: two threads that import torch at once can fail each other."""
    found = sources("components", "pages")
    names = [source.module for source in found if not source.is_page_script]
    names += [
        node.module
        for source in found
        for node in source.tree.body
        if source.is_page_script and isinstance(node, ast.ImportFrom) and node.module
    ]
    script = (
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
        "    heavy = {'torch', 'transformers', 'tokenizers'} & set(sys.modules)\n"
        "    assert not heavy, f'{name} imports {heavy}'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


FIGURES = (
    "kit.bars",
    "kit.figure",
    "kit.heatmap",
    "kit.lanes",
    "kit.lines",
    "kit.mosaic",
    "kit.signed_bars",
    "kit.vector_strip",
    "attention.figures",
    "embedding.rope_clock",
    "generation.branch_tree",
    "generation.surprise",
    "kv_cache.costs",
    "kv_cache.sharing",
    "sampling.sweeps",
    "speculative.pay",
    "speculative.rounds",
)
"""Modules of components that make figures and nothing else."""


def test_figures_need_no_streamlit():
    script = (
        "import importlib, sys\n"
        f"for name in {FIGURES!r}:\n"
        "    importlib.import_module(f'components.{name}')\n"
        "    assert 'streamlit' not in sys.modules, name\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_files_stay_short():
    offences = []
    for source in sources(*SHIPPED, "tests", "benchmarks", "scripts"):
        limit = 100 if source.layer == "app" else 150 if source.is_page_script else 400
        length = len(source.text.splitlines())
        if length > limit:
            offences.append(f"{source.name} has {length} lines; at most {limit}")
    report(offences)


def test_functions_stay_short():
    report(
        [
            f"{source.name}:{node.lineno} {node.name} has {code_lines(node)} lines; at most 60"
            for source in sources(*LAYERS, "scripts")
            for node in ast.walk(source.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and code_lines(node) > 60
        ]
    )


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, without the docstring."""
    length = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is not None:
        length -= function.body[0].end_lineno - function.body[0].lineno + 1
    return length


def test_calls_and_lists_are_written_plainly():
    """No literal is unpacked where its parts could stand, and no line escapes the formatter."""
    offences = []
    for source in sources(*SHIPPED, "tests", "benchmarks", "scripts"):
        offences += [
            f"{source.name}:{node.lineno} unpacks {ast.unparse(node)[:40]}"
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List)
        ]
        offences += [
            f"{source.name}:{number} switches the formatter off"
            for number, line in enumerate(source.text.splitlines(), 1)
            if re.search(r"# fmt: ?(skip|off)", line)
        ]
    report(offences)


def test_scripts_and_style_sheets_are_short_and_build_no_markup_from_text():
    offences = []
    forbidden = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
    for path in assets():
        text = path.read_text(encoding="utf-8")
        if len(text.splitlines()) > 400:
            offences.append(f"{path.name} is longer than 400 lines")
        offences += [f"{path.name} uses {word}" for word in forbidden if word in text]
        offences += [f"{path.name} names {address}" for address in foreign_addresses(text)]
    report(offences)


def test_nothing_mutable_lives_at_module_level():
    offences = []
    for source in sources(*LAYERS):
        if source.is_page_script:
            continue  # runs anew for every visit
        offences += [
            f"{source.name}:{node.lineno} global"
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Global)
        ]
        for node in source.tree.body:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or not is_mutable(node.value):
                continue
            name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            kind = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
            if name != "__all__" and not re.match(READ_ONLY, kind):
                offences.append(
                    f"{source.name}:{node.lineno} {name} can be changed by everyone: make it a "
                    "tuple or a frozenset, or annotate it as Mapping[…] or Sequence[…]"
                )
    report(offences)


def is_mutable(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        called = ast.unparse(value.func).split(".")[-1]
        return called in {"list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict"}
    literals = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    return isinstance(value, literals)


def test_what_is_never_called():
    offences = []
    for source in sources(*SHIPPED, "benchmarks", "scripts"):
        for call in source.calls():
            where = f"{source.name}:{call.lineno}"
            if ast.unparse(call.func) == "torch.manual_seed":
                offences.append(f"{where} seeds the whole process; use one torch.Generator a run")
            for keyword in call.keywords:
                off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                if keyword.arg == "trust_remote_code" and not off:
                    offences.append(f"{where} runs foreign code")
                if keyword.arg == "unsafe_allow_html":
                    offences.append(f"{where} lets text be read as markup")
                if keyword.arg == "use_container_width":
                    offences.append(f"{where}: width='stretch' is its name now")
    report(offences)


def test_names_in_links_stand_in_one_module():
    offences = []
    names = {
        node.value.value
        for node in next(
            s for s in sources("components") if s.name == "components/link/keys.py"
        ).tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    for source in sources("app", "components", "pages"):
        for call in source.calls():
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            key = keywords.get("key", call.args[0] if call.args else None)
            linked = "bind" in keywords or ast.unparse(call.func).startswith(("widgets.", "check."))
            text = key is not None and isinstance(key, ast.Constant | ast.JoinedStr)
            if text and (linked or ("key" in keywords and getattr(key, "value", None) in names)):
                offences.append(f"{source.name}:{call.lineno} spells {ast.unparse(key)} itself")
        offences += [
            f"{source.name}:{node.lineno} spells {ast.unparse(node.slice)} itself"
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Subscript)
            and ast.unparse(node.value) in {"st.session_state", "st.query_params"}
            and getattr(node.slice, "value", None) in names
        ]
    report(offences)


def test_each_chart_has_a_key_and_a_text_alternative():
    report(
        [
            f"{source.name}:{call.lineno} lacks key or alt"
            for source in sources("components", "pages")
            for call in source.calls()
            if ast.unparse(call.func).endswith("plotly_chart")
            and not {"key", "alt"} <= {keyword.arg for keyword in call.keywords}
        ]
    )


def test_nothing_is_fetched_from_elsewhere():
    theme = (ROOT / ".streamlit/config.toml").read_text(encoding="utf-8")
    offences = [f"the theme names {address}" for address in foreign_addresses(theme)]
    for source in sources(*SHIPPED):
        documentation = source.docstrings()
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found = [] if node in documentation else foreign_addresses(node.value)
                offences += [f"{source.name}:{node.lineno} names {address}" for address in found]
    report(offences)


def foreign_addresses(text: str) -> list[str]:
    found = re.findall(r"(?:https?:)?//[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}[^\s\"'`)]*", text)
    return [address for address in found if address not in ADDRESSES_THAT_ARE_NAMES]


def test_one_concept_has_one_name_everywhere():
    offences = []
    for stage in STAGES:
        layers = ("engine", "components", "pages", "tests/engine")
        offences += [
            f"{stage.key}: no {layer}/{stage.key}/"
            for layer in layers
            if not (ROOT / layer / stage.key / "__init__.py").is_file()
        ]
        if stage.page != f"pages/{stage.key}/page.py":
            offences.append(f"{stage.key}: its page is {stage.page}")
    report(offences)


def test_every_page_script_is_a_registered_stage():
    scripts = {source.name for source in sources("pages") if source.is_page_script}
    assert scripts == {stage.page for stage in STAGES}


def test_stage_keys_titles_and_addresses_are_unique():
    for name in ("key", "title", "url", "page", "question"):
        values = [getattr(stage, name) for stage in STAGES]
        assert len(set(values)) == len(values), name


def test_every_requirement_is_pinned():
    offences = []
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        wanted = [line for line in lines if line.strip() and not line.startswith(("#", "-r "))]
        assert wanted
        offences += [
            f"{name}: {line}"
            for line in wanted
            if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][\w.]*( *;.*)?", line)
        ]
    report(offences)


def test_every_module_says_what_it_is():
    report(
        [
            f"{source.name} opens without a docstring"
            for source in sources(*SHIPPED, "benchmarks", "scripts")
            if not ast.get_docstring(source.tree)
        ]
    )


def test_the_rules_notice_what_breaks_them():
    """A rule that cannot fail is no rule: each detector finds its own offence."""
    assert foreign_addresses("url(https://fonts.example/a.woff2)") != []
    assert foreign_addresses('src="//cdn.example/x.js"') != []
    assert foreign_addresses("a // b, http://127.0.0.1:8501 and http://localhost") == []
    assert is_mutable(ast.parse("x = {}").body[0].value)
    assert is_mutable(ast.parse("x = collections.deque()").body[0].value)
    assert not is_mutable(ast.parse("x = (1, 2)").body[0].value)
    long = ast.parse('def f():\n    """One\n    two."""\n' + "    x = 1\n" * 40).body[0]
    assert code_lines(long) == 41
