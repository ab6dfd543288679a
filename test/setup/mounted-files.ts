/** Files as Kubernetes mounts a Secret: each name is a link into a folder that is exchanged as a whole by one rename. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MountedFiles {
  path(name: string): string
  /** Replaces all files at once. */
  write(files: Readonly<Record<string, string>>): void
}

/** @param folder is created */
export function mountFiles(folder: string, files: Readonly<Record<string, string>>): MountedFiles {
  mkdirSync(folder, { recursive: true })
  let version = 0
  const write = (contents: Readonly<Record<string, string>>): void => {
    const previous = `..${version}`
    version += 1
    mkdirSync(join(folder, `..${version}`))
    for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, `..${version}`, name), text)
    symlinkSync(`..${version}`, join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    rmSync(join(folder, previous), { recursive: true, force: true })
  }
  write(files)
  for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(folder, name))
  return { path: name => join(folder, name), write }
}
