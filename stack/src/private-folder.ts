import { chmodSync, mkdirSync } from 'node:fs'

/**
 * Makes a folder that only this user can enter, so that the modes of the files in it do not matter: mails, messages of Kafka and logs are
 * readable for all by default. A folder of an earlier version, which all could enter, is closed too.
 * @param isOurs true if an existing folder has our data. A folder of somebody else, such as /tmp, keeps its mode.
 */
export function makePrivateFolder(path: string, isOurs: boolean): void {
  // Undefined if the folder was there already.
  const made = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (made === undefined && isOurs) chmodSync(path, 0o700)
}
