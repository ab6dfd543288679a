import { expect, test } from 'vitest'
import { cacheFolder, cacheLayout } from './cache-layout.ts'

test.each([
  { name: 'in the home folder', env: {}, folder: '/home/ada/.cache/backstop' },
  { name: 'where XDG_CACHE_HOME says', env: { XDG_CACHE_HOME: '/var/cache/ada' }, folder: '/var/cache/ada/backstop' },
  {
    name: 'in the home folder when XDG_CACHE_HOME is relative',
    env: { XDG_CACHE_HOME: 'cache' },
    folder: '/home/ada/.cache/backstop',
  },
  {
    name: 'where BACKSTOP_CACHE says, before all others',
    env: { XDG_CACHE_HOME: '/x', BACKSTOP_CACHE: '/mnt/b' },
    folder: '/mnt/b',
  },
])('downloads are kept $name', ({ env, folder }) => {
  expect(cacheFolder(env, '/home/ada')).toBe(folder)
})

test('what depends on the kind of machine has a folder per kind, and all have a hash of their pins', () => {
  const { folders } = cacheLayout({ BACKSTOP_CACHE: '/c' })
  const machine = `${process.platform}-${process.arch}`
  expect(folders.java).toMatch(new RegExp(`^/c/java-25.0.2-${machine}-[0-9a-f]{8}$`))
  expect(folders.mongod).toMatch(new RegExp(`^/c/mongod-6.0.5-${machine}-[0-9a-f]{8}$`))
  expect(folders.kafka).toMatch(/^\/c\/kafka-4.3.1-[0-9a-f]{8}$/)
})
