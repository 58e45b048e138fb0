#!/usr/bin/env bash
# What action.yml runs: its inputs, from variables, as options.
set -euo pipefail

read -r -a paths <<<"$INPUT_PATHS"
summary=$(mktemp -d)/summary.md
options=(--format github --report "$summary" --safety "$INPUT_SAFETY" --lang "$INPUT_LANG" --report "$INPUT_REPORT")
[[ -z $INPUT_DIFF_BASE ]] || options+=(--diff-base "$INPUT_DIFF_BASE")
[[ -z $INPUT_BASELINE ]] || options+=(--baseline "$INPUT_BASELINE")
[[ -z $INPUT_TORCH_NPU ]] || options+=(--torch-npu "$INPUT_TORCH_NPU")
[[ $INPUT_CHECK != true ]] || options+=(--check)

status=0
"${NPU_MIGRATE:-$RUNNER_TEMP/npu-migrate/bin/npu-migrate}" "${options[@]}" -- "${paths[@]}" || status=$?
[[ -z ${GITHUB_STEP_SUMMARY:-} || ! -f $summary ]] || cat "$summary" >>"$GITHUB_STEP_SUMMARY"
exit "$status"
