"""A checkpoint of train.py -> a folder in Hugging Face layout, with weights in f16, or with --int8 in the project's int8.

    python3 export.py --run RUN --tokenizer tokenizer.json --out MODEL_FOLDER [--int8]

int8 layout of model.safetensors: every matrix `name` that dtype q8 quantises on the GPU (all but the position table) is I8
of the same shape and order as in f16, and beside it stands `name.extremes`, F16: of each group of 32 inputs of one output
the value farthest from zero. A Conv1D matrix [in, out] has extremes [ceil(in / 32), out], the token table [vocabulary,
width] has [vocabulary, ceil(width / 32)]. value = int8 * extreme / -128. Norms, biases and positions stay F16. These are
the GPU's own numbers: q8 of this file and q8 of the f16 file are the same to the bit.
"""

import argparse
import json
import struct
from pathlib import Path

import numpy as np
import torch

from bpe import SPECIAL, Tokenizer
from model import is_conv1d

CHAT_TEMPLATE = (
    "{% for message in messages %}{% if message['role'] == 'user' %}<|user|>{{ message['content'] }}"
    "{% elif message['role'] == 'assistant' %}<|assistant|>{{ message['content'] }}<|endoftext|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
# Low temperature: a small model's second choices are bad. No repetition penalty: it forbids the names that must be repeated.
GENERATION = {
    "do_sample": True,
    "temperature": 0.6,
    "top_k": 30,
    "top_p": 0.9,
    "repetition_penalty": 1.0,
    "max_new_tokens": 200,
}
# Weights that share an extreme.
GROUP = 32
TYPE_NAMES = {"float16": "F16", "float32": "F32", "int8": "I8"}


def write_safetensors(path: Path, tensors: dict[str, np.ndarray]) -> None:
    header: dict = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, tensor in sorted(tensors.items()):
        header[name] = {
            "dtype": TYPE_NAMES[str(tensor.dtype)],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + tensor.nbytes],
        }
        offset += tensor.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for _, tensor in sorted(tensors.items()):
            out.write(np.ascontiguousarray(tensor).tobytes())


def hugging_face_tensors(state: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """f16, with the `transformer.` prefix and Conv1D's [in, out]. The head is tied: it is wte and not written."""
    return {
        f"transformer.{name}": (t.t() if is_conv1d(name) else t).half().contiguous().cpu().numpy()
        for name, t in state.items()
    }


def quantised(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    out: dict[str, np.ndarray] = {}
    for name, tensor in tensors.items():
        if tensor.ndim < 2 or name.endswith("wpe.weight"):
            out[name] = tensor
            continue
        inputs_last = tensor.T if is_conv1d(name) else tensor
        integers, extremes = quantise_rows(inputs_last)
        out[name] = integers.T if is_conv1d(name) else integers
        out[f"{name}.extremes"] = extremes.T if is_conv1d(name) else extremes
    return out


def quantise_rows(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int8 of the matrix's shape, and the f16 extremes of each row's groups."""
    rows, width = matrix.shape
    padded = np.pad(matrix.astype(np.float32), ((0, 0), (0, -width % GROUP)))
    groups = padded.reshape(rows, -1, GROUP)
    farthest = np.abs(groups).argmax(axis=2)[..., None]
    extremes = np.take_along_axis(groups, farthest, axis=2).astype(np.float16)
    scale = extremes.astype(np.float32) / -128
    integers = np.rint(groups / np.where(scale == 0, 1, scale)).clip(-128, 127).astype(np.int8)
    return integers.reshape(rows, -1)[:, :width], extremes[..., 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--int8", action="store_true")
    options = parser.parse_args()
    saved = torch.load(options.run / "checkpoint.pt", map_location="cpu")
    shape = saved["config"]
    options.out.mkdir(parents=True, exist_ok=True)

    def write_json(name: str, value: dict) -> None:
        (options.out / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")

    tensors = hugging_face_tensors(saved["model"])
    stored = quantised(tensors) if options.int8 else tensors
    write_safetensors(options.out / "model.safetensors", stored)
    Tokenizer.load(options.tokenizer).save(options.out / "tokenizer.json")
    ends = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    write_json("config.json", {
        "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "activation_function": "gelu_new", "attn_pdrop": 0.0,
        "embd_pdrop": 0.0, "resid_pdrop": 0.0, **ends, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
        "n_ctx": shape["n_positions"], **shape, "n_inner": None, "reorder_and_upcast_attn": False,
        "scale_attn_by_inverse_layer_idx": False, "scale_attn_weights": True, "tie_word_embeddings": True, "use_cache": True,
        "torch_dtype": "float16",
    })  # fmt: skip
    write_json("generation_config.json", {**ends, **GENERATION})
    names = {
        "bos_token": SPECIAL[0],
        "eos_token": SPECIAL[0],
        "unk_token": SPECIAL[0],
        "pad_token": SPECIAL[0],
        "additional_special_tokens": SPECIAL[1:],
    }
    write_json("special_tokens_map.json", names)
    write_json("tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": False, "clean_up_tokenization_spaces": False,
        "model_max_length": shape["n_positions"], **names, "chat_template": CHAT_TEMPLATE,
    })  # fmt: skip
    (options.out / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
    print(f"{sum(t.size for t in tensors.values())} parameters, {sum(t.nbytes for t in stored.values())} bytes")


if __name__ == "__main__":
    main()
