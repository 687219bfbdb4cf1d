"""Errors that keep the site from being built. The message says where the problem is, and what to do."""


class SiteError(Exception):
    """A page cannot be made from its source as it is, or a folder is not ours."""
