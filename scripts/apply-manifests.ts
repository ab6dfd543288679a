/**
 * `node scripts/apply-manifests.ts --definitions <folder>`: applies every overlay and component server-side to the empty cluster of the
 * current kubeconfig, and reports each warning and error. The folder has the CustomResourceDefinitions of the operators. The exit code is 1
 * if the API server warned or refused anything.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { stringify } from 'yaml'
import { COMPONENT_OVERLAYS, overlayOf, STRIMZI } from '../test/deploy/component-overlays.ts'
import { ensureKubectl } from '../test/deploy/kubernetes-tools.ts'
import { BUNDLES, type Manifest, render, renderOverlay } from '../test/deploy/rendered.ts'

const { values } = parseArgs({ options: { definitions: { type: 'string' } } })
const kubectl = await ensureKubectl()
const folder = mkdtempSync(join(tmpdir(), 'backstop-manifests-'))
let faults = 0
try {
  if (values.definitions !== undefined) await run(['apply', '--server-side', '-f', values.definitions])
  await run(['create', 'namespace', 'kafka'])
  for (const bundle of BUNDLES) await apply(bundle, await render(bundle))
  for (const name of Object.keys(COMPONENT_OVERLAYS))
    await apply(`components: ${name}`, await renderOverlay(overlayOf(name)))
  await apply('components: strimzi', await renderOverlay(STRIMZI))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = faults === 0 ? 0 : 1

async function apply(name: string, manifests: readonly Manifest[]): Promise<void> {
  const file = join(folder, 'objects.yaml')
  writeFileSync(file, manifests.map(manifest => stringify(manifest)).join('---\n'))
  // The template of a job cannot change, and overlays differ in it.
  await run(['delete', 'jobs', '--all', '--namespace', 'backstop', '--ignore-not-found'])
  const { lines, warnings, failure } = await run(['apply', '--server-side', '-f', file])
  if (warnings !== '' || failure) faults += 1
  const result = failure ? 'refused' : warnings === '' ? 'no warning' : 'applied with warnings'
  process.stdout.write(`${name}: ${lines} of ${manifests.length} objects applied, ${result}\n${warnings}`)
}

async function run(args: string[]): Promise<{ lines: number; warnings: string; failure: boolean }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(kubectl, args, { maxBuffer: 64 * 1024 * 1024 })
    return { lines: stdout.split('\n').filter(Boolean).length, warnings: stderr, failure: false }
  } catch (error) {
    const { stdout = '', stderr = String(error) } = error as { stdout?: string; stderr?: string }
    return { lines: stdout.split('\n').filter(Boolean).length, warnings: stderr, failure: true }
  }
}
