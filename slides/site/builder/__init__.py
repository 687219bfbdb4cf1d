"""The site: the course as static pages."""
