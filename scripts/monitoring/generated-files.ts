import { stringify } from 'yaml'
import { DASHBOARDS } from './dashboards.ts'
import { dashboardText } from './grafana.ts'
import { sloGroups } from './slo.ts'

const SLO_HEAD = `# Service level objectives: how many events were bad, and alerts on how fast that uses up the error budget of 28 days. Written by
# \`npm run monitoring\` from scripts/monitoring/slo.ts.
#
# A page needs a burn rate of 14.4 for an hour (2 % of the budget) or of 6 for six hours (5 %), a ticket a rate of 1 for three days (10 %).
# The short window ends the alert soon after the fault. At least three events must be bad.
`

/** The texts of the generated files of deploy/monitoring, by their paths. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['deploy/monitoring/rules/slo.yaml', SLO_HEAD + stringify({ groups: sloGroups() }, { lineWidth: 0 })],
    ...DASHBOARDS.map(
      dashboard => [`deploy/monitoring/dashboards/${dashboard.uid}.json`, dashboardText(dashboard)] as const,
    ),
  ])
}
