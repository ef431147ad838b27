"""Pages about an evaluation: `write_report` puts report.html, .md, .tex, .csv and .json into a folder."""

from agenticiqa.evaluation.report.text_reports import write_report as write_report
