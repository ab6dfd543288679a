import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { stringify } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import { ensureKubectl } from '../../test/deploy/kubernetes-tools.ts'
import { IMAGES, PLACEHOLDER, PROGRAMS } from './places.ts'

const K8S = resolve(import.meta.dirname, '../../deploy/k8s')

/**
 * Writes what an operator applies and fills in: install.yaml, settings.env and secrets.env.
 * @param images folder with `<program>.json`, the metadata that docker buildx wrote about each pushed image
 * @returns the paths of the files
 * @throws Error if the digest of an image is missing
 */
export async function writeInstallFiles(images: string, to: string): Promise<string[]> {
  const digests = Object.fromEntries(
    PROGRAMS.map(program => [program, digestIn(readFileSync(join(images, `${program}.json`), 'utf8'), program)]),
  )
  const paths = ['install.yaml', 'settings.env', 'secrets.env'].map(name => join(to, name)) as [string, string, string]
  writeFileSync(paths[0], await renderInstallFile(digests))
  // What has to be changed is first.
  const settings = ['overlays/production', 'base/config'].map(at => readFileSync(join(K8S, at, 'settings.env'), 'utf8'))
  writeFileSync(paths[1], settings.join('\n'))
  copyFileSync(join(K8S, 'overlays/production/secrets.example.env'), paths[2])
  return paths
}

function digestIn(metadata: string, program: string): string {
  const digest: unknown = JSON.parse(metadata)['containerimage.digest']
  if (typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest)) return digest
  throw new Error(`The metadata of the image ${program} has no digest`)
}

/** All objects of an installation in one file, with each image by its digest. */
async function renderInstallFile(digests: Readonly<Record<string, string>>): Promise<string> {
  const kubectl = await ensureKubectl()
  const folder = mkdtempSync(join(tmpdir(), 'backstop-install-'))
  try {
    const overlay = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: [relative(folder, join(K8S, 'overlays/published'))],
      images: Object.entries(digests).map(([program, digest]) => ({
        name: `${PLACEHOLDER}/backstop-${program}`,
        newName: `${IMAGES}/backstop-${program}`,
        digest,
      })),
    }
    writeFileSync(join(folder, 'kustomization.yaml'), stringify(overlay))
    const objects = execFileSync(kubectl, ['kustomize', folder], { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 })
    return `# Backstop ${packageJson.version}. Apply it unchanged: kubectl apply --server-side -f install.yaml\n# Its pods wait for the ConfigMap backstop-settings and the Secret backstop-secrets (docs/install.md).\n${objects}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
