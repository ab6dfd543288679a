/** The version of images and jobs: that of the release with the commit, so that other code never has the same name. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { buildVersion } from '../../packages/kit/src/ops/build-info.ts'
import { PLACEHOLDER, PROGRAMS } from './places.ts'

const JOBS = ['provision', 'network-policy-check']

/** The commit of a folder, with `-dirty` if files were changed after it; `unknown` without git, as in an unpacked archive. */
export function revisionOf(folder: string): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 10_000,
    }).trim()
  } catch {
    return 'unknown'
  }
}

/** The version of the code in a folder, for example `0.3.0-dev+g1a2b3c4d5e6f`. */
export const versionOf = (folder: string) => buildVersion(revisionOf(folder))

/** The tag of the images of a revision, for example `0.3.0-dev-g1a2b3c4d5e6f`: a tag cannot have a plus sign. */
export const imageTag = (revision: string) => buildVersion(revision).replace('+', '-')

/** A version in the name of an object of Kubernetes, which may have no dots. */
export const inNames = (version: string) => version.replaceAll('.', '-')

/** A version as Python writes it, for example `0.3.0.dev0`. */
export const inPython = (version: string) => version.replace('-dev', '.dev0')

/** A kustomize component that gives images, labels and jobs this version. A job with another name runs again. */
export function versionComponent(tag: string): string {
  return stringify({
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    images: PROGRAMS.map(name => ({ name: `${PLACEHOLDER}/backstop-${name}`, newTag: tag })),
    labels: [{ pairs: { 'app.kubernetes.io/version': tag }, includeTemplates: true }],
    patches: JOBS.map(job => ({
      target: { kind: 'Job', labelSelector: `app.kubernetes.io/component=${job}` },
      patch: JSON.stringify([{ op: 'replace', path: '/metadata/name', value: `backstop-${job}-${inNames(tag)}` }]),
    })),
  })
}

/**
 * The tag for the images of this checkout. `BACKSTOP_REVISION` names the commit where there is no git.
 * @param folder gets a kustomize component that gives the tag to images, labels and jobs
 */
export function imageVersion(folder?: string): string[] {
  const tag = imageTag(process.env.BACKSTOP_REVISION || revisionOf(resolve(import.meta.dirname, '../..')))
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'kustomization.yaml'), versionComponent(tag))
  }
  return [tag]
}
