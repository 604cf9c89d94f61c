"""Where evaluation meets the linker: what the commands evaluate, tune, ablate and errors do, as functions."""
