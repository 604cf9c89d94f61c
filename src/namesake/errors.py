"""The one error that is meant for people: what was wrong, where, what to do."""


class NamesakeError(Exception):
    """A mistake the user can mend. Its text is one line that names the file, line or article.

    The command line prints it without a traceback and exits with 2.
    """
