"""Decisions of people about names: files of them (`records`), and the mentions that they apply to (`lookup`)."""
