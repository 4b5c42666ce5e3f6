"""Files and folders of the target whose size is watched, as an entry of the study's `probes.files`."""

from __future__ import annotations

from pydantic import Field

from plimsoll.study.part import StudyPart


class FilesOptions(StudyPart):
    """What is measured and what reports call it."""

    label: str = Field(default="data", min_length=1, description="what reports call it")
    path: str = Field(
        min_length=1, description="a file (of SQLite with its -wal) or a folder, below the study's folder or absolute"
    )
