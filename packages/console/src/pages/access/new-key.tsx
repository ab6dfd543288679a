import { Button, Checkbox, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { api, useWrite } from '../../api/client.ts'
import type { Scope } from '../../api/system.ts'
import { Form, useFields } from '../../parts/form/index.ts'
import { ShownOnce } from '../../parts/show/index.ts'
import { ALL_PROJECTS, useGrantableProjects } from '../../session/administration.ts'
import { expiryOf, LIFETIMES, SCOPES } from './words.ts'

/** Makes a key, and shows it once. */
export function NewKey({ close }: { close: () => void }) {
  const projects = useGrantableProjects()
  const scopes: readonly Scope[] = ['read', 'operations:write']
  const { fields, field } = useFields({ name: '', scopes, project: projects[0]?.value ?? '', days: '365' })
  const create = useWrite(
    () =>
      api.apiKeys.create({
        name: fields.name.trim(),
        scopes: [...fields.scopes],
        ...(fields.project === ALL_PROJECTS ? {} : { project_id: fields.project }),
        ...expiryOf(fields.days),
      }),
    { refresh: ['keys'] },
  )
  const created = create.data
  const title = created === undefined ? 'New API key' : `Key “${created.name}”`
  return (
    // A click beside the dialog must not lose a key that is shown once.
    <Modal opened onClose={close} title={title} size={520} closeOnClickOutside={created === undefined}>
      {created === undefined ? (
        <Form
          write={create}
          failed="The key was not created"
          button="Create key"
          isComplete={fields.name.trim() !== '' && fields.scopes.length > 0}
          onSubmit={() => create.mutate()}
          onCancel={close}
        >
          <TextInput
            data-autofocus
            label="Name"
            placeholder="The software that uses it, for example Billing worker"
            maxLength={200}
            {...field('name')}
          />
          <Checkbox.Group label="What the key may do" {...field('scopes')} value={[...fields.scopes]}>
            <Stack gap={12}>
              {SCOPES.map(({ value, label, may }) => (
                <Checkbox key={value} size="sm" value={value} label={label} description={may} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Select label="Project" data={projects} searchable {...field('project')} />
          <Select label="Expires after" data={LIFETIMES} {...field('days')} />
        </Form>
      ) : (
        <Stack gap="md">
          <ShownOnce label="The new key" secret={created.key ?? ''}>
            Copy the key now and store it as a secret. Backstop stores only its hash and cannot show it again.
          </ShownOnce>
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
