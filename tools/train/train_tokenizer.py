"""Trains the tokenizer on a corpus, and says how many bytes its tokens have.

python3 train_tokenizer.py --corpus FOLDER --vocabulary 8192 --out FOLDER/tokenizer.json
"""

import argparse
from pathlib import Path

from bpe import train
from corpus import texts_for_tokenizer

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    texts = texts_for_tokenizer(options.corpus)
    tokenizer = train(texts, options.vocabulary)
    tokenizer.save(options.out)
    sample = texts[:: max(1, len(texts) // 5000)]
    ratio = sum(len(t.encode()) for t in sample) / sum(len(tokenizer.encode(t)) for t in sample)
    assert all(tokenizer.decode(tokenizer.encode(t)) == t for t in sample)
    print(f"{len(tokenizer.vocabulary)} tokens, {ratio:.2f} bytes per token")
