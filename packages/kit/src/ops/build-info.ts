import packageJson from '../../package.json' with { type: 'json' }
import type { Metrics } from './metrics.ts'

/** A commit, as git shortens it or not; with `-dirty` if files were changed after it. */
const COMMIT = /^([0-9a-f]{7,12})[0-9a-f]{0,28}(-dirty)?$/

/**
 * The version of the running code, with its commit as build metadata (semver.org, 10): code that was changed after a release must
 * not call itself by that release.
 * @param revision commit of the code; anything else counts as unknown
 * @returns for example `0.3.0-dev+g1a2b3c4d5e6f`, or `0.3.0-dev+unknown`
 */
export function buildVersion(revision: string, release: string = packageJson.version): string {
  const [, commit, dirty] = COMMIT.exec(revision) ?? []
  return commit === undefined ? `${release}+unknown` : `${release}+g${commit}${dirty ?? ''}`
}

/** Shows which build runs, so that a change of another metric can be compared with a deployment. */
export function recordBuildInfo(metrics: Metrics, revision: string): void {
  const info = metrics.gauge('backstop_build_info', 'Always 1; the labels name the running build', [
    'version',
    'revision',
    'node',
  ])
  info.set({ version: buildVersion(revision), revision, node: process.versions.node }, 1)
}
