import { readFileSync } from 'node:fs'
import packageJson from '../../package.json' with { type: 'json' }
import { withOutsideLinks } from './places.ts'

/** More characters are refused in the notes of a release. */
const MAX_LENGTH = 125_000

/** The notes of the release that TAG makes of this checkout. @throws Error if it cannot be released by this tag */
export function notesOfCheckout(tag = ''): string {
  const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
  return releaseNotes(tag, packageJson.version, changelog)
}

/**
 * The section of a version in the changelog, with links that work outside of the repository.
 * @param version of package.json
 * @throws Error if the tag is not that of the version, or if the first section of the changelog is not that of the version
 */
export function releaseNotes(tag: string, version: string, changelog: string): string {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${version} is no release: run npm run release -- set-version`)
  if (tag !== `v${version}`) throw new Error(`The tag of version ${version} is v${version}, not ${tag}`)
  const [, heading = '', text = ''] = /^## (.*)\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog) ?? []
  if (heading.split(' ')[0] !== version)
    throw new Error(`The first section of CHANGELOG.md is "${heading}", not ${version}`)
  if (text.trim() === '') throw new Error(`CHANGELOG.md says nothing about ${version}`)
  const notes = withOutsideLinks(text.trim(), '', tag)
  if (notes.length > MAX_LENGTH) throw new Error(`The notes have ${notes.length} characters, more than ${MAX_LENGTH}`)
  return notes
}
