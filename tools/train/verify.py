"""Reads an exported folder with nothing but NumPy, computes GPT-2 in float64, and compares the logits with PyTorch's.

python3 verify.py --model MODEL_FOLDER
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from model import extend, read_safetensors, segment_bias
from sample import Chat

TEXTS = [
    ["Hello, how are you?"],
    ["My name is Ada.", "Nice to meet you, Ada!", "What is my name?"],
    ["Tell me a story about a walrus."],
]


def forward(folder: Path, ids: list[int]) -> np.ndarray:
    """[length, vocabulary] logits, written from the paper's formulas and independent of model.py."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    w = {
        name.removeprefix("transformer."): tensor.astype(np.float64)
        for name, tensor in read_safetensors(folder / "model.safetensors").items()
    }
    heads, width = config["n_head"], config["n_embd"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        return (
            centred / np.sqrt((centred**2).mean(-1, keepdims=True) + config["layer_norm_epsilon"]) * w[f"{name}.weight"]
            + w[f"{name}.bias"]
        )

    def conv1d(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["wte.weight"][ids] + w["wpe.weight"][: len(ids)]
    future = np.triu(np.full((len(ids), len(ids)), -np.inf), 1)
    for layer in range(config["n_layer"]):
        q, k, v = np.split(conv1d(norm(x, f"h.{layer}.ln_1"), f"h.{layer}.attn.c_attn"), 3, axis=-1)
        parts = []
        for head in range(heads):
            part = slice(head * width // heads, (head + 1) * width // heads)
            scores = q[:, part] @ k[:, part].T / np.sqrt(width // heads) + future
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            parts.append(weights / weights.sum(-1, keepdims=True) @ v[:, part])
        x = x + conv1d(np.concatenate(parts, -1), f"h.{layer}.attn.c_proj")
        inner = conv1d(norm(x, f"h.{layer}.ln_2"), f"h.{layer}.mlp.c_fc")
        inner = 0.5 * inner * (1 + np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3)))
        x = x + conv1d(inner, f"h.{layer}.mlp.c_proj")
    return norm(x, "ln_f") @ w["wte.weight"].T


def past_of(chat: Chat, ids: list[int]) -> list:
    past: list = []
    extend(chat.model, ids, past)
    return past


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    options = parser.parse_args()
    chat = Chat(options.model)
    worst = 0.0
    for turns in TEXTS:
        ids = chat.prompt(turns)
        with torch.no_grad():
            theirs = chat.model(
                torch.tensor([ids]), torch.arange(len(ids))[None], segment_bias(torch.zeros(1, len(ids)))
            )[0].numpy()
        ours = forward(options.model, ids)
        worst = max(worst, float(np.abs(ours - theirs).max()))
        assert np.abs(extend(chat.model, ids[7:], past_of(chat, ids[:7])).numpy() - theirs[-1]).max() < 1e-3, (
            "the cached pass differs"
        )
        assert (ours.argmax(-1) == theirs.argmax(-1)).all(), "another token wins"
    assert worst < 1e-3, worst
    print(
        f"NumPy float64 against PyTorch float32: logits differ by at most {worst:.1e}, the same token wins at every position"
    )


if __name__ == "__main__":
    main()
