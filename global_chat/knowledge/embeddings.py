"""Static word embeddings: a text becomes 128 numbers whose angles tell how close meanings are.

The weights and the tokenizer are files inside the installed `wordllama` package. They are read
directly: importing the package takes 0.4 s more, sets up the root logger and brings a downloader.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

DIMENSIONS = 128
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_LONGEST = 1_000  # characters of a text that count; a passage says early what it is about


class Embedder:
    """Turns texts into unit vectors. Loading takes about 0.2 s, a text some 20 µs."""

    def __init__(self, tokenizer: Tokenizer, weights: NDArray[np.float32]) -> None:
        self._tokenizer = tokenizer
        self._weights = weights

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, as rows. A text without any word becomes zeros."""
        import numpy as np  # noqa: PLC0415  0.1 s, and most turns search nothing

        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        encoded = self._tokenizer.encode_batch_fast(
            [text[:_LONGEST] for text in texts], add_special_tokens=False
        )
        for row, item in zip(rows, encoded, strict=True):
            if item.ids:
                row[:] = self._weights[np.asarray(item.ids)].mean(axis=0)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths == 0, 1, lengths)
        return rows


@cache
def load_embedder() -> Embedder | None:
    """The embedder; None when its files are not there, and search then goes by words alone."""
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    if not (folder / _WEIGHTS).is_file() or not (folder / _TOKENIZER).is_file():
        return None
    # 0.1 s together, and most turns search nothing.
    import numpy as np  # noqa: PLC0415
    from safetensors import safe_open  # noqa: PLC0415
    from tokenizers import Tokenizer  # noqa: PLC0415

    tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    with safe_open(folder / _WEIGHTS, framework="np") as file:
        # The model is trained so that its first dimensions are a smaller model of their own.
        weights = np.asarray(file.get_tensor("embedding.weight")[:, :DIMENSIONS], np.float32)
    return Embedder(tokenizer, weights)
