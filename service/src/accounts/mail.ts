import { randomUUID } from 'node:crypto';
import { errorMessage } from '../error-message.ts';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';

export interface Message {
  to: string;
  subject: string;
  text: string;
}

export interface MailOptions {
  /** `smtp://` or `smtps://`, with user and password where the server needs them. Without a URL, mail is written to a file. */
  smtpUrl?: string | undefined;
  /** The sender's address (default: `plugin-service@localhost`). */
  from?: string | undefined;
  /** The folder for mail that is written to files. */
  outbox: string;
}

/** How long to wait for the connection, for the greeting, and for each further reply of the server, in ms. */
const timeout = 15_000;

/**
 * Sends a message, or writes it to a file. Resolves with a phrase that says where it went, such as `to you@acme.com, through …`.
 * Rejects when the URL is not one of a mail server, when the server does not accept the message, or when the file cannot be
 * written.
 */
export async function sendMail(message: Message, { smtpUrl, from, outbox }: MailOptions): Promise<string> {
  if (smtpUrl) {
    const { protocol, host } = checkedUrl(smtpUrl);
    const transport = createTransport({
      url: smtpUrl,
      connectionTimeout: timeout,
      greetingTimeout: timeout,
      socketTimeout: timeout,
    });
    try {
      await transport.sendMail({ from: from ?? defaultSender, ...message });
    } catch (error) {
      const reason = errorMessage(error);
      throw new Error(`The mail server ${protocol}//${host} of SMTP_URL did not take the mail: ${reason}`, {
        cause: error,
      });
    } finally {
      transport.close();
    }
    return `to ${message.to}, through ${host}`;
  }
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const { message: raw } = await composer.sendMail({ from: from ?? defaultSender, ...message });
  await mkdir(outbox, { recursive: true, mode: 0o700 });
  const file = join(
    outbox,
    `${new Date().toISOString().replace(/[:.]/g, '-')}-${randomUUID().slice(0, 8)}.eml`,
  );
  await writeFile(file, raw as Buffer, { flag: 'wx', mode: 0o600 });
  return `to the file ${file} (SMTP_URL is not set)`;
}

const defaultSender = 'Plugin service <plugin-service@localhost>';

function checkedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^smtps?:$/.test(url.protocol) || !url.hostname) {
    // The value is not quoted, because it may hold a password.
    throw new Error('SMTP_URL must be an address such as smtp://user:password@mail.example.com:587.');
  }
  return url;
}
