"""What the tests of the chain share: the recorded cases, random logits, and which ids are kept."""

import json
import math
from pathlib import Path

import numpy as np

CASES = json.loads((Path(__file__).parents[2] / "data/cases/sampling.json").read_text())["cases"]
BANNED = -math.inf
VOCABULARY = 49_152


def random_logits(seed, size=VOCABULARY):
    return (np.random.default_rng(seed).standard_normal(size) * 3).astype(np.float32)


def kept_ids(stage):
    return np.flatnonzero(stage.kept).tolist()
