"""Reads the course's contents from build/course.json, which labs/course makes from the labs' files."""
import json

from .errors import MissingTool


def read_course(root):
    """{'labs': [...], 'terms': [...], 'gpus': [...]}, as labs/course/__main__.py writes it."""
    file = root / 'build/course.json'
    if not file.is_file():
        raise MissingTool(f'{file} is not there: ./lab setup')
    return json.loads(file.read_text())
