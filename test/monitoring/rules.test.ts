/** The alerts, their tests and pages, the dashboards and docs/metrics.md belong together. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { generatedFiles } from '../../scripts/monitoring/generated-files.ts'
import { readMetricsPage } from '../setup/metrics-page.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'deploy/monitoring')

interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly labels?: Record<string, string>
  readonly annotations?: Record<string, string>
}
interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}
interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test?: readonly {
      readonly alertname: string
      readonly exp_alerts?: readonly { readonly exp_labels: Record<string, string> }[]
    }[]
  }[]
}

const read = (path: string) => readFileSync(path, 'utf8')
const inFolder = (pattern: string) => globSync(pattern, { cwd: FOLDER }).map(path => join(FOLDER, path))
const rules = inFolder('rules/*.yaml').flatMap(path =>
  (parse(read(path)) as RuleFile).groups.flatMap(group => group.rules),
)
const alerts = rules.filter(({ alert }) => alert !== undefined)
const names = [...new Set(alerts.map(({ alert = '' }) => alert))]

test('there are rules', () => {
  expect(names.length).toBeGreaterThan(15)
})

describe.each(names)('%s', name => {
  const ofName = alerts.filter(({ alert }) => alert === name)

  test('has a severity, a summary and a page with symptom, meaning, three commands and remedy', () => {
    for (const { labels, annotations } of ofName) {
      expect(['page', 'ticket']).toContain(labels?.severity)
      expect(annotations?.summary).toMatch(/\w/)
      expect(annotations?.runbook_url).toBe(`docs/runbooks/${name}.md`)
    }
    const page = read(join(ROOT, 'docs/runbooks', `${name}.md`))
    for (const part of ['Symptom', 'Meaning', 'First three commands', 'Remedy']) expect(page).toContain(`**${part}`)
    expect(page.match(/^\d\. `/gm)).toHaveLength(3)
    expect(read(join(ROOT, 'docs/runbooks/README.md'))).toContain(`[${name}](${name}.md)`)
  })

  test('has a promtool test in which it fires, with each of its severities', () => {
    const tests = inFolder('tests/*.test.yaml').flatMap(path => (parse(read(path)) as RuleTests).tests)
    const firing = tests
      .flatMap(one => one.alert_rule_test ?? [])
      .filter(({ alertname }) => alertname === name)
      .flatMap(({ exp_alerts = [] }) => exp_alerts.map(({ exp_labels }) => exp_labels.severity))
    expect([...new Set(firing)].sort()).toEqual([...new Set(ofName.map(({ labels }) => labels?.severity))].sort())
  })
})

test('every page is about an alert', () => {
  const pages = globSync('docs/runbooks/*.md', { cwd: ROOT }).map(path => path.replace(/^.*\/|\.md$/g, ''))
  expect(pages.filter(page => page !== 'README' && !names.includes(page))).toEqual([])
})

/** The metrics that an expression reads, without the suffixes of histograms. */
function metricsIn(expr: string): string[] {
  const bare = expr.replaceAll(/"[^"]*"/g, '').replaceAll(/\b(?:by|on|without) \([^)]*\)/g, '')
  const withoutLabels = bare.replaceAll(/\{[^}]*\}/g, '').replaceAll(/\[[^\]]*\]/g, '')
  return [...withoutLabels.matchAll(/[a-z_:][a-z0-9_:]*/g)]
    .map(([name]) => name)
    .filter(name => name.includes('_') && !FUNCTIONS.has(name))
}
const FUNCTIONS = new Set(['histogram_quantile', 'max_over_time', 'min_over_time'])

const documented = new Set(
  readMetricsPage().flatMap(({ name, type }) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
)
const recorded = new Set(rules.flatMap(({ record }) => record ?? []))
const isKnown = (name: string) => documented.has(name) || recorded.has(name)

test('reads the metrics of an expression', () => {
  const expr =
    'histogram_quantile(0.9, sum by (le, some_label) (rate(things_bucket{a_b="c_d",e=~"x_y.*"}[$__rate_interval]))) > 3'
  expect(metricsIn(expr)).toEqual(['things_bucket'])
})

test('every metric of a rule is in docs/metrics.md', () => {
  const used = rules.flatMap(({ expr }) => metricsIn(expr))
  expect(used.length).toBeGreaterThan(20)
  expect(used.filter(name => !isKnown(name))).toEqual([])
})

test('every metric of a dashboard is in docs/metrics.md', () => {
  const dashboards = inFolder('dashboards/*.json').map(
    path => JSON.parse(read(path)) as { panels: { targets: Rule[] }[] },
  )
  const used = dashboards.flatMap(({ panels }) =>
    panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr))),
  )
  expect(used.length).toBeGreaterThan(50)
  expect(used.filter(name => !isKnown(name))).toEqual([])
})

test.each([...generatedFiles()])('%s is as `npm run monitoring` writes it', (path, text) => {
  expect(existsSync(join(ROOT, path))).toBe(true)
  expect(read(join(ROOT, path)) === text).toBe(true)
})
