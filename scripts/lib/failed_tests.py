"""Prints the end of what each failed test of a JUnit report said: failed_tests.py REPORT. Read among thousands, it is lost."""
import sys
import xml.etree.ElementTree

LINES = 25
COLUMNS = 300

for case in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"):
    if case.get("status") != "fail":
        continue
    print(f"\n-- {case.get('name')} (after {float(case.get('time', 'nan')):.0f} s)")
    for line in (case.findtext("system-out") or "it said nothing").rstrip().splitlines()[-LINES:]:
        print(line[:COLUMNS])
