"""The HTTP server: endpoints on top of the linker. It does not depend on how names are linked."""
