"""Mechanisms in use: estimation from reports, files in and out, and audits."""

from mechdesign.deploy.audit import Audit, audit, audit_counts
from mechdesign.deploy.frequency import FrequencyEstimate, estimate_frequencies

__all__ = ["Audit", "FrequencyEstimate", "audit", "audit_counts", "estimate_frequencies"]
