/** The commands, log events and metrics that the runbooks name exist. */
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { unknownWords } from '../setup/command-words.ts'
import { readMetricsPage } from '../setup/metrics-page.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const pages = globSync('docs/runbooks/Backstop*.md', { cwd: ROOT })
/** The texts in backquotes of all pages. */
const quoted = pages.flatMap(path => [...read(path).matchAll(/`([^`]+)`/g)].map(([, text = '']) => text))

test('every command of `backstop` exists, with its options', () => {
  const commands = quoted.filter(text => /^backstop [a-z]/.test(text))
  expect(commands.length).toBeGreaterThan(20)
  expect(commands.flatMap(unknownWords)).toEqual([])
  expect(unknownWords('backstop channels test CHANNEL_ID --loud')).toEqual(['channels test --loud'])
})

test('the logs are read from all pods of a service, by a label that deploy/k8s has', () => {
  const [logs = ''] = read('docs/runbooks/README.md').match(/^ {4}logs\(\) \{ kubectl .*$/m) ?? []
  // `logs deploy/…` shows one pod of several, and without `--tail=-1` a selector shows ten lines of each.
  expect(logs).toMatch(/ logs -l app\.kubernetes\.io\/name=backstop-\$1 --prefix --timestamps --tail=-1 --since /)
  const manifests = globSync('deploy/k8s/base/**/*.yaml', { cwd: ROOT }).map(read).join('\n')
  const services = quoted.flatMap(text => /^logs (\S+)/.exec(text)?.[1] ?? []).filter(name => name !== 'SERVICE')
  expect(services.length).toBeGreaterThan(10)
  for (const name of services) expect(manifests).toContain(`app.kubernetes.io/name: backstop-${name}`)
  expect(quoted.filter(text => /^kubectl .*\blogs -l/.test(text))).toEqual([])
})

test('the command line in a container gets its address and key, and standard input', () => {
  const [inContainer = ''] = read('docs/runbooks/README.md').match(/^ {4}alias backstop='kubectl .*$/m) ?? []
  expect(inContainer).toContain('kubectl exec -i ')
  expect(inContainer).toMatch(
    / env BACKSTOP_URL=\S+ BACKSTOP_API_KEY="\$BACKSTOP_API_KEY" node packages\/cli\/src\/main\.ts'$/,
  )
})

test('every log event exists', () => {
  const code = globSync('{services,packages}/*/src/**/*.ts', { cwd: ROOT }).map(read).join('\n')
  const searched = quoted.filter(text => /^(?:kubectl|logs|for) /.test(text) || /^[a-z]+\.[a-z_]+$/.test(text))
  const names = searched.flatMap(
    text => text.match(/\b(?:event|looks|operations|delivery|clock|installation|consumer|metrics)\.[a-z_]+/g) ?? [],
  )
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter(name => !code.includes(`'${name}'`))).toEqual([])
})

test('every metric is in docs/metrics.md', () => {
  const documented = new Set(readMetricsPage().map(({ name }) => name))
  const prefixes = /^(?:installation|kafka|mongo|nodejs|process|ingress|reconciler|delivery|consumer|clock)_[a-z0-9_]+$/
  const metrics = quoted.filter(text => prefixes.test(text))
  expect(metrics.length).toBeGreaterThan(5)
  expect(metrics.filter(name => !documented.has(name))).toEqual([])
})
