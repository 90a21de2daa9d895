"""python3 -m unittest: tokenizer, packing and export on small made-up data (needs PyTorch, no corpus)."""

import json
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

from bpe import ASSISTANT, END, SPECIAL, USER, Tokenizer, train
from corpus import Window, chat_windows, pack
from export import GROUP, hugging_face_tensors, quantised, write_safetensors
from model import GPT2, Config, extend, is_conv1d, load_folder, read_safetensors, segment_bias


def fixture_tensors() -> dict[str, np.ndarray]:
    """Odd sizes, groups both ways, a group of zeros. src/files/int8-tensor.test.ts makes the same values again."""

    def values(rows: int, columns: int) -> np.ndarray:
        index = np.arange(rows * columns).reshape(rows, columns)
        return ((index * 7919 % 1009 - 504) / 256).astype(np.float16)

    conv1d = values(70, 5)
    conv1d[32:64, 3] = 0
    return {
        "wte.weight": values(6, 45),
        "h.0.mlp.c_fc.weight": conv1d,
        "h.0.mlp.c_fc.bias": values(1, 5)[0],
        "wpe.weight": values(4, 45),
    }


TEXTS = ["the cat sat on the mat", "the dog and the cat", "Ünïcödé, 12 + 7 = 19!\n  ok"] * 20


class Bpe(unittest.TestCase):
    def test_texts_come_back_and_frequent_words_become_tokens(self):
        tokenizer = train(TEXTS, 300)
        for text in [*TEXTS[:3], "never seen: zebra", ""]:
            self.assertEqual(tokenizer.decode(tokenizer.encode(text)), text)
        self.assertIn("Ġthe", tokenizer.ids)
        self.assertEqual(tokenizer.vocabulary[:3], SPECIAL)

    def test_saved_and_loaded_it_is_the_same(self):
        tokenizer = train(TEXTS, 290)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.json"
            tokenizer.save(path)
            again = Tokenizer.load(path)
        self.assertEqual((again.vocabulary, again.merges), (tokenizer.vocabulary, tokenizer.merges))


class Packing(unittest.TestCase):
    def test_a_conversation_is_cut_before_a_user_and_replies_are_marked(self):
        tokenizer = train(TEXTS, 290)
        windows = list(chat_windows("x", ["the cat", "the dog"] * 30, tokenizer, 40))
        self.assertGreater(len(windows), 1)
        for window in windows:
            self.assertLessEqual(len(window.ids), 40)
            self.assertEqual((window.ids[0], window.ids[-1]), (USER, END))
            after = int(np.argmax(window.ids == ASSISTANT)) + 1
            self.assertFalse(window.reply[:after].any())
            self.assertTrue(window.reply[after])

    def test_every_window_is_in_one_row_whole(self):
        rng = np.random.default_rng(1)
        windows = [
            Window("x", rng.integers(3, 999, n).astype(np.uint16), np.ones(n, bool)) for n in rng.integers(3, 64, 300)
        ]
        rows = pack(windows, 64, rng)
        found = sorted(
            tuple(ids[segment == s]) for ids, segment in zip(rows.ids, rows.segment) for s in set(segment) - {255}
        )
        self.assertEqual(found, sorted(tuple(w.ids) for w in windows))
        self.assertGreater((rows.kind > 0).mean(), 0.9)


class Export(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.config = Config(vocab_size=97, n_positions=24, n_embd=32, n_layer=2, n_head=4)
        self.model = GPT2(self.config).eval()

    def test_the_folder_gives_the_model_back_and_more_positions_if_asked(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_safetensors(folder / "model.safetensors", hugging_face_tensors(self.model.state_dict()))
            (folder / "config.json").write_text(json.dumps(vars(self.config)))
            again, longer = load_folder(folder), load_folder(folder, n_positions=30)
        for name, tensor in self.model.state_dict().items():
            self.assertLess(float((again.state_dict()[name] - tensor).abs().max()), 1e-4, name)
        self.assertEqual(longer.wpe.weight.shape[0], 30)

    def test_an_int8_folder_gives_nearly_the_model_back(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_safetensors(folder / "model.safetensors", quantised(hugging_face_tensors(self.model.state_dict())))
            (folder / "config.json").write_text(json.dumps(vars(self.config)))
            again = load_folder(folder)
        for name, tensor in self.model.state_dict().items():
            self.assertLess(float((again.state_dict()[name] - tensor).abs().max()), 1e-3, name)

    def test_int8_is_within_half_a_step_of_f16(self):
        tensors = hugging_face_tensors(self.model.state_dict())
        with tempfile.TemporaryDirectory() as name:
            write_safetensors(Path(name) / "f16", tensors)
            self.assertEqual(set(read_safetensors(Path(name) / "f16")), set(tensors))
        small = quantised(tensors)
        for name, tensor in tensors.items():
            if f"{name}.extremes" in small:
                axis = 0 if is_conv1d(name) else 1
                scale = small[f"{name}.extremes"].astype(np.float32).repeat(GROUP, axis) / -128
                scale = scale[: tensor.shape[0], : tensor.shape[1]]
                error = np.abs(small[name] * scale - tensor) / np.abs(scale)
                # Within half a step; at the far end of the range, where 128 would be wanted and 127 is had, a whole one.
                self.assertLess(float(error[small[name] < 127].max()), 0.51, name)
                self.assertLess(float(error.max()), 1.01, name)
        self.assertNotIn("transformer.wpe.weight.extremes", small)

    def test_the_fixture_of_the_int8_layout_is_what_is_written_today(self):
        fixture = Path(__file__).parents[2] / "tests" / "fixtures" / "int8.safetensors"
        with tempfile.TemporaryDirectory() as name:
            write_safetensors(Path(name) / "int8", quantised(fixture_tensors()))
            self.assertEqual((Path(name) / "int8").read_bytes(), fixture.read_bytes())

    def test_windows_in_a_row_do_not_see_each_other_and_the_cached_pass_agrees(self):
        ids = torch.randint(0, 97, (1, 12))
        segments, positions = torch.tensor([[0] * 5 + [1] * 7]), torch.tensor([[*range(5), *range(7)]])
        with torch.no_grad():
            packed = self.model(ids, positions, segment_bias(segments))[0, -1]
        past: list = []
        extend(self.model, ids[0, 5:9].tolist(), past)
        alone = extend(self.model, ids[0, 9:].tolist(), past)
        self.assertLess(float((packed - alone).abs().max()), 1e-4)


if __name__ == "__main__":
    unittest.main()
