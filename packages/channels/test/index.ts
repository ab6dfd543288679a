export * from './fixtures.ts'
export * from './scripted-smtp-server.ts'
