"""Trains GPT-2 on the corpus and the own writing, on a GPU if there is one, else on the CPU.

python3 train.py --corpus FOLDER --tokenizer tokenizer.json --out RUN --minutes 20            # from nothing
python3 train.py --corpus FOLDER --init MODEL_FOLDER --out RUN --minutes 25 --rate 1e-3       # go on from a model
python3 train.py ... --resume                                                                  # go on after a break
"""

import argparse
import json
import math
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from bpe import Tokenizer
from corpus import Rows, group, load, pack, weighted
from model import GPT2, Config, load_folder, segment_bias

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument(
        "--corpus", type=Path, required=True, help="folder with chat.jsonl(.gz), plain.txt(.gz), countries.json"
    )
    p.add_argument("--out", type=Path, required=True, help="folder for checkpoint.pt and train.log")
    p.add_argument("--tokenizer", type=Path, help="tokenizer.json; that of --init if not given")
    p.add_argument("--init", type=Path, help="Hugging Face folder to go on from")
    p.add_argument("--resume", action="store_true", help="go on from checkpoint.pt in --out")
    p.add_argument("--minutes", type=float, default=20, help="training time; the rate falls to zero at its end")
    p.add_argument("--layers", type=int, default=8)
    p.add_argument("--width", type=int, default=384)
    p.add_argument("--heads", type=int, default=6)
    p.add_argument("--context", type=int, default=512)
    p.add_argument("--rows", type=int, default=64, help="rows of `context` tokens in a step")
    p.add_argument("--rate", type=float, default=1.5e-3)
    p.add_argument("--warmup", type=int, default=100, help="steps")
    p.add_argument("--decay", type=float, default=0.1, help="weight decay of matrices")
    p.add_argument("--dropout", type=float, default=0.0)
    p.add_argument("--user-weight", type=float, default=0.2, help="loss weight of what users say; the rest has 1")
    p.add_argument("--own", type=int, default=100_000, help="conversations of own writing in a pass")
    p.add_argument("--evaluate-minutes", type=float, default=5)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


def batch(rows: Rows, index: slice) -> tuple[torch.Tensor, ...]:
    """ids, positions, segments, kinds of some rows, on the device."""
    parts = (
        rows.ids[index].astype(np.int64),
        rows.position[index].astype(np.int64),
        rows.segment[index],
        rows.kind[index],
    )
    return tuple(torch.from_numpy(part).to(DEVICE) for part in parts)


def losses(model: torch.nn.Module, ids, positions, segments, kinds) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(nats, targets, kinds of the targets) of the tokens that have a predecessor in their window."""
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        logits = model(ids, positions, segment_bias(segments))
    chosen = ((segments[:, 1:] == segments[:, :-1]) & (segments[:, 1:] != 255)).reshape(-1).nonzero().squeeze(1)
    targets = ids[:, 1:].reshape(-1)[chosen]
    nats = F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1])[chosen].float(), targets, reduction="none")
    return nats, targets, kinds[:, 1:].reshape(-1)[chosen]


@torch.no_grad()
def held_out(
    model: GPT2, groups: dict[str, Rows], tokenizer: Tokenizer, rows_at_most: int = 160
) -> dict[str, dict[str, float]]:
    """Bits per byte by group: of all text, and of what the assistant says."""
    lengths = torch.tensor([tokenizer.byte_length(i) for i in range(len(tokenizer.vocabulary))], device=DEVICE)
    model.eval()
    figures = {}
    for name, rows in groups.items():
        total = torch.zeros(4, dtype=torch.float64)
        for start in range(0, min(len(rows.ids), rows_at_most), 16):
            nats, targets, kinds = losses(model, *batch(rows, slice(start, start + 16)))
            said = kinds == 2
            total += torch.stack(
                [x.double().sum().cpu() for x in (nats, lengths[targets], nats[said], lengths[targets[said]])]
            )
        figures[name] = {"bits_per_byte": round(float(total[0] / total[1]) / math.log(2), 4)}
        if total[3] > 0:
            figures[name]["reply_bits_per_byte"] = round(float(total[2] / total[3]) / math.log(2), 4)
    model.train()
    return figures


def held_out_rows(windows: list, context: int) -> dict[str, Rows]:
    names = ("real", "own", "prose")
    return {
        name: pack([w for w in windows if group(w.source) == name], context, np.random.default_rng(0)) for name in names
    }


def optimizer_for(model: GPT2, options: argparse.Namespace) -> torch.optim.AdamW:
    """Weight decay for matrices and the token table; none for biases, norms and positions."""
    decayed = [p for name, p in model.named_parameters() if p.dim() > 1 and name != "wpe.weight"]
    chosen = {id(p) for p in decayed}
    plain = [p for p in model.parameters() if id(p) not in chosen]
    fused = {"fused": True} if DEVICE == "cuda" else {}
    groups = [{"params": decayed, "weight_decay": options.decay}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.95), **fused)


def main() -> None:
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    if DEVICE == "cuda":
        torch.set_float32_matmul_precision("high")
    log_file = (options.out / "train.log").open("a", encoding="utf-8")

    def log(*parts: object) -> None:
        for stream in (None, log_file):
            print(*parts, file=stream, flush=True)

    tokenizer = Tokenizer.load(options.tokenizer or options.init / "tokenizer.json")
    if options.init:
        model = load_folder(options.init, options.dropout, options.context)
    else:
        model = GPT2(
            Config(len(tokenizer.vocabulary), options.context, options.width, options.layers, options.heads),
            options.dropout,
        )
    model.to(DEVICE)
    optimizer = optimizer_for(model, options)
    step, before, passes = 0, 0.0, 0
    checkpoint = options.out / "checkpoint.pt"
    if options.resume:
        saved = torch.load(checkpoint, map_location=DEVICE)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step, before, passes = saved["step"], saved["seconds"], saved["passes"]
    fast = torch.compile(model) if DEVICE == "cuda" and hasattr(torch, "compile") else model

    source = (options.corpus, tokenizer, options.context, options.own, options.seed)
    windows = load(*source, held_out=False)
    groups = held_out_rows(load(*source, held_out=True), options.context)
    log(
        "options",
        {key: str(value) for key, value in vars(options).items()},
        "parameters",
        sum(p.numel() for p in model.parameters()),
    )

    def save(seconds: float) -> None:
        state = {"model": model.state_dict(), "config": asdict(model.config), "optimizer": optimizer.state_dict()}
        torch.save({**state, "step": step, "seconds": seconds, "passes": passes}, checkpoint)

    budget, began, evaluated = options.minutes * 60, time.monotonic(), time.monotonic()
    recent: list[float] = []
    rows, at, shown = None, 0, (step, began)
    while (elapsed := before + time.monotonic() - began) < budget:
        if rows is None or at + options.rows > len(rows.ids):
            passes += 1  # a new pass: other weights' luck, another order, and so another packing
            rng = np.random.default_rng([options.seed, passes])
            rows, at = pack(weighted(windows, rng), options.context, rng), 0
            filled = int((rows.kind > 0).sum())
            log(f"pass {passes}: {len(rows.ids)} rows, {filled} tokens, {filled / rows.ids.size:.1%} full")
        rate = options.rate * min(1, (step + 1) / options.warmup) * 0.5 * (1 + math.cos(math.pi * elapsed / budget))
        for parameters in optimizer.param_groups:
            parameters["lr"] = rate
        ids, positions, segments, kinds = batch(rows, slice(at, at + options.rows))
        at += options.rows
        nats, _, target_kinds = losses(fast, ids, positions, segments, kinds)
        weight = torch.where(target_kinds == 2, 1.0, options.user_weight)
        loss = (nats * weight).sum() / weight.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1
        recent.append(float(loss))
        if step % 50 == 0:
            now = time.monotonic()
            speed = (step - shown[0]) * options.rows * options.context / (now - shown[1])
            log(
                f"step {step} minute {elapsed / 60:.1f} loss {np.mean(recent):.4f} rate {rate:.1e} tokens/s {speed:.0f}"
            )
            recent, shown = [], (step, now)
        if time.monotonic() - evaluated > options.evaluate_minutes * 60:
            log("held out", json.dumps(held_out(model, groups, tokenizer)))
            save(before + time.monotonic() - began)
            evaluated = time.monotonic()
    save(budget)
    log(
        f"end: {step} steps, {step * options.rows * options.context} tokens, held out",
        json.dumps(held_out(model, groups, tokenizer)),
    )


if __name__ == "__main__":
    main()
