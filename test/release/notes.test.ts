import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { releaseNotes } from '../../scripts/release/notes.ts'
import { REPOSITORY } from '../../scripts/release/places.ts'

const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
/** The changelog as it is when its last release is tagged. */
const atLastRelease = changelog.slice(changelog.search(/^## \d/m))
const [, version = ''] = /^## (\d\S*)/.exec(atLastRelease) ?? []

test('the notes of a release are its section of the changelog', () => {
  const notes = releaseNotes(`v${version}`, version, atLastRelease)
  const lines = atLastRelease.split('\n').slice(1)
  const section = lines
    .slice(
      0,
      lines.findIndex(line => line.startsWith('## ')),
    )
    .join('\n')
  expect(section).toContain('](docs/')
  expect(notes).toBe(section.trim().replaceAll('](docs/', `](${REPOSITORY}/blob/v${version}/docs/`))
})

describe('refuses', () => {
  const text = '# Changelog\n\n## 1.2.0 (1 May)\n- [BUGFIX] A\n\n## 1.1.0 (1 April)\n- B\n'
  test.each([
    {
      name: 'a tag of another version',
      tag: 'v1.1.0',
      version: '1.2.0',
      message: 'The tag of version 1.2.0 is v1.2.0, not v1.1.0',
    },
    { name: 'a tag without v', tag: '1.2.0', version: '1.2.0', message: 'is v1.2.0, not 1.2.0' },
    {
      name: 'a version between two releases',
      tag: 'v1.2.0-dev',
      version: '1.2.0-dev',
      message: '1.2.0-dev is no release',
    },
    { name: 'a version without a section', tag: 'v1.3.0', version: '1.3.0', message: 'is "1.2.0 (1 May)", not 1.3.0' },
    {
      name: 'a section that is not the first',
      tag: 'v1.1.0',
      version: '1.1.0',
      message: 'is "1.2.0 (1 May)", not 1.1.0',
    },
    {
      name: 'an empty section',
      tag: 'v1.2.0',
      version: '1.2.0',
      changelog: '## 1.2.0\n\n## 1.1.0\n- B\n',
      message: 'says nothing about 1.2.0',
    },
    {
      name: 'notes that are too long',
      tag: 'v1.2.0',
      version: '1.2.0',
      changelog: `## 1.2.0\n${'a'.repeat(125_001)}`,
      message: '125001 characters',
    },
  ])('$name', ({ tag, version, message, changelog = text }) => {
    expect(() => releaseNotes(tag, version, changelog)).toThrow(message)
  })
})

test('ends at the next section', () => {
  expect(releaseNotes('v1.2.0', '1.2.0', '## 1.2.0 (1 May)\n### Area\n- A\n\n## 1.1.0\n- B\n')).toBe('### Area\n- A')
  expect(releaseNotes('v1.2.0', '1.2.0', '## 1.2.0\n- A\n')).toBe('- A')
})
