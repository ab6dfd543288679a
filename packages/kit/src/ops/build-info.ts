import packageJson from '../../package.json' with { type: 'json' }
import type { Metrics } from './metrics.ts'

/** Shows which build runs, so that a change of another metric can be compared with a deployment. */
export function recordBuildInfo(metrics: Metrics, revision: string): void {
  const info = metrics.gauge('backstop_build_info', 'Always 1; the labels name the running build', [
    'version',
    'revision',
    'node',
  ])
  info.set({ version: packageJson.version, revision, node: process.versions.node }, 1)
}
