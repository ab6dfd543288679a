import type { Project } from '@backstop/client'
import { ColorInput, Stack, Textarea, TextInput } from '@mantine/core'
import { Facts } from '../../parts/show/index.ts'
import { MessagePreview } from '../channels/message-preview.tsx'
import { Saving, useProjectForm } from './saving.tsx'
import classes from './settings.module.css'

type Branding = Project['branding']
type Fields = Required<Branding>

const COLOUR = /^#[0-9a-f]{6}$/i

/** The look of the mails of a project, and beside it a mail that has this look. */
export function MailLook({ project, mayChange }: { project: Project; mayChange: boolean }) {
  const form = useProjectForm(project, fieldsOf)
  const { fields, field, base } = form
  const faults = findFaults(fields)
  const hasChanges = JSON.stringify(fields) !== JSON.stringify(fieldsOf(base))
  // A half-typed value would be refused, so the mail shows the other ones.
  const shown = brandingOf({ ...fields, ...Object.fromEntries(Object.keys(faults).map(name => [name, ''])) })
  return (
    <section className={classes.wide} aria-label="Look of the mails">
      <Stack gap={12} miw={0}>
        <h2>Look of the mails</h2>
        {mayChange ? (
          <>
            <TextInput label="Name in mails" placeholder="Backstop" maxLength={60} {...field('name')} />
            <TextInput
              label="Logo"
              description="An https URL. The mail program of the reader loads it"
              placeholder="https://example.com/logo.png"
              error={faults.logo_url}
              {...field('logo_url')}
            />
            <ColorInput
              label="Accent colour"
              description="Empty: red, green or grey by the kind of the message"
              placeholder="#4f46e5"
              size="sm"
              format="hex"
              eyeDropperButtonProps={{ 'aria-label': 'Take the colour from the screen' }}
              error={faults.accent_colour}
              {...field('accent_colour')}
            />
            <Textarea
              label="Footer"
              description="Plain text at the end of each mail"
              maxLength={500}
              {...field('footer')}
            />
            <Saving
              form={form}
              hasChanges={hasChanges}
              isValid={Object.keys(faults).length === 0}
              yours="The look that you typed"
              patch={{ branding: brandingOf(fields) }}
            />
          </>
        ) : (
          <Facts
            facts={[
              ['Sender', fields.name || 'Backstop'],
              ['Logo', fields.logo_url || 'None'],
              ['Accent colour', fields.accent_colour || 'By the kind of the message'],
              ['Footer', fields.footer || 'None'],
            ]}
          />
        )}
      </Stack>
      <MessagePreview
        kind="email"
        projectId={project.project_id}
        settings={hasChanges ? { branding: JSON.stringify(shown) } : {}}
      />
    </section>
  )
}

function fieldsOf({ branding: { name = '', logo_url = '', accent_colour = '', footer = '' } }: Project): Fields {
  return { name, logo_url, accent_colour, footer }
}

/** Without empty fields: an empty field means the look of the installation. */
function brandingOf(fields: Fields): Branding {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([name, value]) => [name, value.trim()])
      .filter(([, value]) => value !== ''),
  )
}

function findFaults({ logo_url, accent_colour }: Fields): Partial<Fields> {
  const isLogo = logo_url.trim() === '' || (/^https:\/\/[^\s/]+\.\S+/.test(logo_url.trim()) && URL.canParse(logo_url))
  const isColour = accent_colour === '' || COLOUR.test(accent_colour)
  return {
    ...(isLogo ? {} : { logo_url: 'Give an https URL' }),
    ...(isColour ? {} : { accent_colour: 'Give a colour as #rrggbb' }),
  }
}
