"""The parts of scripts/problems-table: which problems of a folder are judged, and which wrong variants are red."""
