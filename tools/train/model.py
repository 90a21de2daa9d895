"""GPT-2 with Hugging Face's names (their state dict without the `transformer.` prefix; Linear here is [out, in])."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fast_gelu import gelu


@dataclass
class Config:
    vocab_size: int
    n_positions: int
    n_embd: int
    n_layer: int
    n_head: int


class Attention(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads = config.n_head
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.c_attn(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        if hasattr(F, "scaled_dot_product_attention"):
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        else:  # torch before 2.0
            scores = torch.matmul(q * (1 / math.sqrt(q.shape[-1])), k.transpose(-1, -2)) + bias.to(q.dtype)
            mixed = torch.matmul(F.softmax(scores, -1), v)
        return self.c_proj(mixed.transpose(1, 2).reshape(batch, length, width))


class MLP(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd)
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.c_proj(gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, config: Config, dropout: float) -> None:
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(config.n_embd), Attention(config)
        self.ln_2, self.mlp = nn.LayerNorm(config.n_embd), MLP(config)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        x = x + self.drop(self.attn(self.ln_1(x), bias))
        return x + self.drop(self.mlp(self.ln_2(x)))


class GPT2(nn.Module):
    def __init__(self, config: Config, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.n_positions, config.n_embd)
        self.h = nn.ModuleList(Block(config, dropout) for _ in range(config.n_layer))
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.drop = nn.Dropout(dropout)
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif "ln_" not in name:  # GPT-2's start: residual projections smaller by the depth
                nn.init.normal_(parameter, 0.0, 0.02 / (math.sqrt(2 * config.n_layer) if "c_proj" in name else 1))

    def forward(self, ids: Tensor, positions: Tensor, bias: Tensor) -> Tensor:
        """ids, positions [batch, length]; bias [batch, 1, length, length], added to the scores -> logits."""
        x = self.drop(self.wte(ids) + self.wpe(positions))
        for block in self.h:
            x = block(x, bias)
        return F.linear(self.ln_f(x), self.wte.weight)


@torch.no_grad()
def extend(model: GPT2, ids: list[int], past: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Reads `ids` after what `past` holds (keys and values [heads, length, size] of each layer; grown in place) -> last logits."""
    before = past[0][0].shape[1] if past else 0
    x = model.wte(torch.tensor(ids)) + model.wpe(torch.arange(before, before + len(ids)))
    bias = torch.full((len(ids), before + len(ids)), -math.inf).triu(before + 1)
    for layer, block in enumerate(model.h):
        parts = block.attn.c_attn(block.ln_1(x)).view(len(ids), 3, block.attn.heads, -1)
        q, k, v = parts.permute(1, 2, 0, 3)
        if before:
            k, v = torch.cat([past[layer][0], k], 1), torch.cat([past[layer][1], v], 1)
            past[layer] = (k, v)
        else:
            past.append((k, v))
        mixed = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]) + bias, -1) @ v
        x = x + block.attn.c_proj(mixed.transpose(0, 1).reshape(len(ids), -1))
        x = x + block.mlp(block.ln_2(x))
    return model.ln_f(x[-1]) @ model.wte.weight.T


def segment_bias(segment: Tensor) -> Tensor:
    """[batch, length] window numbers -> [batch, 1, length, length]: 0 where a query may look, else -10,000 (finite in bf16)."""
    length = segment.shape[1]
    causal = torch.ones(length, length, dtype=torch.bool, device=segment.device).tril()
    allowed = (segment[:, :, None] == segment[:, None, :]) & causal
    return torch.zeros(allowed.shape, device=segment.device).masked_fill_(~allowed, -1e4)[:, None]


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """f16, f32 and export.py's int8 tensors, as f32. Eight bytes of header length, a JSON header, then the tensors."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    tensors = {}
    for name, entry in json.loads(raw[8:start]).items():
        if name != "__metadata__":
            begin, end = (start + offset for offset in entry["data_offsets"])
            kind = {"F16": np.float16, "F32": np.float32, "I8": np.int8}[entry["dtype"]]
            tensors[name] = np.frombuffer(raw[begin:end], kind).reshape(entry["shape"]).astype(np.float32)
    for name in [name for name in tensors if name.endswith(".extremes")]:
        extremes, whole = tensors.pop(name), tensors[name.removesuffix(".extremes")]
        axis = int(extremes.shape[0] == whole.shape[0])
        spread = extremes.repeat(32, axis)[: whole.shape[0], : whole.shape[1]]
        tensors[name.removesuffix(".extremes")] = whole * spread / -128
    return tensors


def is_conv1d(name: str) -> bool:
    """GPT-2's Conv1D keeps [in, out]; these four are transposed between here and a Hugging Face folder."""
    return name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))


def load_folder(folder: Path, dropout: float = 0.0, n_positions: int | None = None) -> GPT2:
    """A Hugging Face folder -> model. `n_positions` beyond the folder's adds positions, which start as the mean of the last 32."""
    raw = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config = Config(**{name: raw[name] for name in Config.__dataclass_fields__})
    tensors = {
        name.removeprefix("transformer."): torch.from_numpy(t)
        for name, t in read_safetensors(folder / "model.safetensors").items()
    }
    state = {name: t.t().contiguous() if is_conv1d(name) else t for name, t in tensors.items()}
    more = (n_positions or 0) - config.n_positions
    if more > 0:
        state["wpe.weight"] = torch.cat(
            [state["wpe.weight"], state["wpe.weight"][-32:].mean(0, keepdim=True).repeat(more, 1)]
        )
        config.n_positions += more
    model = GPT2(config, dropout)
    model.load_state_dict(state)
    return model
