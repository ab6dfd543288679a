/**
 * `npm run release -- <command>`: the steps of a release (CONTRIBUTING.md), which .github/workflows/release.yml runs at a tag. None of them publishes anything.
 *
 *     set-version VERSION       write the version everywhere: that of a release, such as 0.3.0, or afterwards that of what comes next, 0.4.0-dev
 *     image-version [FOLDER]    print the tag for images of this checkout; into FOLDER, write a kustomize component that sets it
 *     pin-images                write today's digests of the images of others into Dockerfile and docker-compose.yml; needs docker with buildx
 *     notes TAG                 check that TAG releases this checkout, and print its section of the changelog
 *     registry                  print where the images are published
 *     pack FOLDER               pack the npm packages
 *     install IMAGES FOLDER     render install.yaml and its settings into FOLDER; IMAGES has <program>.json, the `--metadata-file` of each `docker buildx build`
 */
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'

const COMMANDS: Readonly<Record<string, (...args: string[]) => Promise<readonly string[]>>> = {
  'set-version': async version => (await import('./release/set-version.ts')).setVersion(version),
  'image-version': async folder => (await import('./release/version.ts')).imageVersion(folder),
  'pin-images': async () => (await import('./release/base-images.ts')).pinImages(),
  notes: async tag => [(await import('./release/notes.ts')).notesOfCheckout(tag)],
  registry: async () => [(await import('./release/places.ts')).IMAGES],
  pack: async folder => (await import('./release/packages.ts')).packPackages(created(folder)),
  install: async (images, folder) =>
    (await import('./release/install-file.ts')).writeInstallFiles(resolve(images ?? ''), created(folder)),
}

const [name = '', ...args] = process.argv.slice(2)
const command = COMMANDS[name]
if (command === undefined) throw new Error(`Give one of the commands ${Object.keys(COMMANDS).join(', ')}`)
for (const line of await command(...args)) process.stdout.write(`${line}\n`)

function created(folder: string | undefined): string {
  if (folder === undefined) throw new Error('Give the folder of the files')
  mkdirSync(folder, { recursive: true })
  return resolve(folder)
}
