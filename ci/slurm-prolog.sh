#!/usr/bin/env bash
# May this node take work? A Slurm prolog: answers within a minute, and a node that fails is drained.
#
#   PrologFlags=Alloc            in slurm.conf: before the job begins, not with its first step
#   Prolog=/etc/slurm/assay-prolog.sh
#
# Or as a health check of idle nodes, with HealthCheckProgram and HealthCheckNodeState=IDLE. slurmd starts both without its
# own environment, not even PATH. So settings come from /etc/default/assay, lines NAME=VALUE, or from the environment:
#   ASSAY          the program (default: assay in PATH)
#   ASSAY_DEVICES  what --device takes (default: cuda)
#   ASSAY_REQUIRE  what --require takes (default: cuda), such as cuda:8
#   ASSAY_METRICS  folder of the node exporter's textfile collector; unset: no metrics
#   ASSAY_PROLOG_S seconds that the answer may take (default: 55)
# It checks every suite, op and dtype on small shapes on every device, and times nothing. What was wrong goes to standard
# error, which slurmd logs, and into the reason of the drained node where scontrol is there.
#
# Run by slurmd 22.05 on two hosts that were namespaces of one machine without a GPU: good nodes, an absent device, a
# hang. Not run: on nodes with GPUs.
set -uo pipefail
export PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
# shellcheck source=/dev/null
[[ ! -e /etc/default/assay ]] || source /etc/default/assay

limit_s=${ASSAY_PROLOG_S:-55}
out=$(mktemp -d /tmp/assay-prolog-XXXXXX) || exit 1
trap 'rm -rf "$out"' EXIT

# The budget ends the run itself, so that its verdict and files are whole; timeout is for a program that hangs.
timeout --kill-after=2 "$limit_s" "${ASSAY:-assay}" run --profile seeds --check-only --quiet \
  --device "${ASSAY_DEVICES:-cuda}" --require "${ASSAY_REQUIRE:-cuda}" \
  --budget $((limit_s - 15)) --timeout 10 --out "$out/run" >"$out/log" 2>&1
code=$?

if [[ -n ${ASSAY_METRICS:-} && -e $out/run/metrics.prom ]]; then # renamed, for a reader to find it whole
  cp "$out/run/metrics.prom" "$ASSAY_METRICS/.assay.prom" && mv "$ASSAY_METRICS/.assay.prom" "$ASSAY_METRICS/assay.prom"
fi
((code == 0)) && exit 0
reason="assay: exit $code: $(tail -n 20 "$out/log" | grep -m1 -E 'FAILED|INCOMPLETE|error|no |absent' || echo "no answer within $limit_s s")"
printf '%s\n' "$reason" >&2
tail -n 20 "$out/log" >&2
if [[ -n ${SLURMD_NODENAME:-} ]] && command -v scontrol >/dev/null; then
  scontrol update NodeName="$SLURMD_NODENAME" State=DRAIN Reason="${reason:0:200}" || true
fi
exit 1
