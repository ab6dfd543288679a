import { readFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'

/** The object of the Prometheus Operator with the rules of one file of deploy/monitoring/rules. */
export function prometheusRuleText(name: string): string {
  const source = `deploy/monitoring/rules/${name}.yaml`
  const { groups } = parse(readFileSync(new URL(`../../${source}`, import.meta.url), 'utf8'))
  return `# Written by \`npm run manifests\` from ${source}.\n${stringify(
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: {
        name: `backstop-${name}`,
        labels: { 'app.kubernetes.io/name': 'backstop-metrics', 'app.kubernetes.io/component': 'metrics' },
      },
      spec: { groups },
    },
    { lineWidth: 0 },
  )}`
}
