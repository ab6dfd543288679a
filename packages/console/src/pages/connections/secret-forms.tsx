import type { Connection, CreatedConnection } from '@backstop/client'
import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { Problem } from '../../parts/problem.tsx'
import classes from './connections.module.css'
import { useStoreConnection } from './out-of-band-choice.tsx'

interface FieldProps {
  label: string
  description?: string
  button: string
  what: string
  save: (value: string) => Promise<Connection | CreatedConnection>
  isSecret?: boolean
}

/** One value with its button. A secret is never shown again, so the field is empty after it is stored. */
function StoreForm({ label, description, button, what, save, isSecret = true }: FieldProps) {
  const [value, setValue] = useState('')
  const store = useStoreConnection()
  const write = useMutation({
    mutationFn: save,
    onSuccess(connection) {
      store(withoutSecrets(connection))
      setValue('')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    write.mutate(value.trim())
  }
  const Input = isSecret ? PasswordInput : TextInput
  return (
    <form className={classes.form} onSubmit={submit}>
      <Input
        label={label}
        {...(description === undefined ? {} : { description })}
        autoComplete="off"
        value={value}
        onChange={event => setValue(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" loading={write.isPending} disabled={value.trim() === ''}>
        {button}
      </Button>
      {write.isSuccess && value === '' && <span role="status">Stored.</span>}
      {write.error !== null && <Problem error={write.error} what={what} />}
    </form>
  )
}

export function withoutSecrets(connection: Connection | CreatedConnection): Connection {
  const { signing_secret, username, password, ...rest } = connection as CreatedConnection
  return rest
}

/** Stores the secret that the provider shows. The former one stays valid for a day. */
export function SecretForm({ connection }: { connection: Connection }) {
  const { project_id, connection_id, kind } = connection
  const body = (secret: string) => (kind === 'reseller' ? { destination_secret: secret } : { signing_secret: secret })
  return (
    <StoreForm
      label={kind === 'reseller' ? 'Secret of the destination' : 'Signing secret of the provider'}
      button="Store the secret"
      what="The secret is not stored"
      save={secret => api.connections.rotateSecret(project_id, connection_id, body(secret))}
    />
  )
}

export function ReadKeyForm({ connection }: { connection: Connection }) {
  const { project_id, connection_id, kind, site } = connection
  return (
    <>
      {kind === 'subscription' && site === null && (
        <StoreForm
          label="Site"
          description="The first part of the account’s address. It cannot be changed afterwards."
          button="Store the site"
          what="The site is not stored"
          isSecret={false}
          save={value => api.connections.change(project_id, connection_id, { site: value })}
        />
      )}
      <StoreForm
        label="Read-only API key"
        button="Store the key"
        what="The key is not stored"
        save={read_key => api.connections.change(project_id, connection_id, { read_key })}
      />
    </>
  )
}
