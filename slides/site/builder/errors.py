"""What keeps the site from being built: the message says where, and what to do."""


class SiteError(Exception):
    """A page that cannot be written as its source stands, or a folder that is not ours."""
