"""The server: HTTP on top of the linker. Routes are one table; nothing here knows how a name is linked."""
